"""Google Cloud Storage as a ``Bucket``.

Through its own client and not through Beam's file systems: those know no conditional writes, no listing of one
folder, and look for credentials for 20 seconds before they say that there are none. ``STORAGE_EMULATOR_HOST`` names
another server, which is asked without credentials.
"""

from __future__ import annotations

import errno
import importlib
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transforms.remote.bucket import ChangedError, ObjectStat, StoreError, StoreSetupError

EMULATOR_VARIABLE = "STORAGE_EMULATOR_HOST"
_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_TIMEOUT_S = (5, 60)  # to connect, to answer
_RETRY_S = 60.0
_CHECK_TIMEOUT_S = (3, 10)
_CHECK_RETRY_S = 3.0
_LOGIN = (
    "run `gcloud auth application-default login`, or set GOOGLE_APPLICATION_CREDENTIALS to the key file of a service"
    " account"
)


class GcsBucket:
    """See ``Bucket``."""

    def __init__(self, address: str) -> None:
        """Takes ``gs://bucket``.

        Raises:
            StoreSetupError: If the client is not installed or there are no credentials.
        """
        self.address = address
        try:
            self._storage: Any = importlib.import_module("google.cloud.storage")
        except ImportError:
            message = "gs:// needs Google's client; install it with pip install 'newsbeam[gcp]'"
            raise StoreSetupError(message, address) from None
        self._retry = importlib.import_module("google.cloud.storage.retry").DEFAULT_RETRY
        self._errors = importlib.import_module("google.api_core.exceptions")
        self._auth_errors = importlib.import_module("google.auth.exceptions")
        self._transport_errors = importlib.import_module("requests").RequestException
        self._client = self._make_client()
        self._bucket = self._client.bucket(address.partition("://")[2])
        self._how = {"timeout": _TIMEOUT_S, "retry": self._retry.with_timeout(_RETRY_S)}

    def _make_client(self) -> Any:
        if os.environ.get(EMULATOR_VARIABLE):
            anonymous = importlib.import_module("google.auth.credentials").AnonymousCredentials()
            return self._storage.Client(project="newsbeam", credentials=anonymous)
        credentials, project = _credentials(self.address)
        return self._storage.Client(project=project, credentials=credentials)

    def check(self) -> None:
        """See ``Bucket``."""
        how = {"timeout": _CHECK_TIMEOUT_S, "retry": self._retry.with_timeout(_CHECK_RETRY_S)}
        try:
            with self._told(""):
                next(iter(self._client.list_blobs(self._bucket, max_results=1, **how)), None)
        except FileNotFoundError:
            message = f"no such bucket; correct the name, or `gcloud storage buckets create {self.address}`"
            raise StoreSetupError(message, self.address) from None
        except PermissionError as error:
            message = f"{error.strerror}; the account needs the role Storage Object User on the bucket"
            raise StoreSetupError(message, self.address) from None
        except StoreSetupError:
            raise
        except StoreError as error:
            raise StoreSetupError(str(error.strerror), self.address) from None

    def stat(self, name: str) -> ObjectStat | None:
        """See ``Bucket``."""
        with self._told(name):
            blob = self._bucket.get_blob(name, **self._how)
        return None if blob is None else _stat(blob)

    def read(self, name: str, start: int = 0, size: int | None = None, generation: int | None = None) -> bytes:
        """See ``Bucket``."""
        end = None if size is None else start + size - 1
        blob = self._bucket.blob(name, generation=generation)
        with self._told(name):
            data = blob.download_as_bytes(start=start or None, end=end, raw_download=True, **self._how)
        return bytes(data)

    def write(self, name: str, data: bytes, if_generation: int | None = None) -> int:
        """See ``Bucket``."""
        blob = self._bucket.blob(name)
        kind = "application/vnd.apache.parquet" if name.endswith(".parquet") else "application/octet-stream"
        with self._told(name):
            # Whole objects: to write one twice does no harm, so that every kind of failure is tried again.
            blob.upload_from_string(data, content_type=kind, if_generation_match=if_generation, **self._how)
        return int(blob.generation)

    def copy(self, source: str, target: str) -> None:
        """See ``Bucket``."""
        with self._told(source):
            self._bucket.copy_blob(self._bucket.blob(source), self._bucket, target, **self._how)

    def delete(self, name: str, if_generation: int | None = None) -> None:
        """See ``Bucket``."""
        try:
            with self._told(name):
                self._bucket.blob(name).delete(if_generation_match=if_generation, **self._how)
        except FileNotFoundError:
            return

    def all_below(self, prefix: str) -> list[ObjectStat]:
        """See ``Bucket``."""
        with self._told(prefix):
            blobs = list(self._client.list_blobs(self._bucket, prefix=prefix, **self._how))
        return sorted((_stat(blob) for blob in blobs), key=lambda stat: stat.name)

    def folder(self, prefix: str) -> list[str]:
        """See ``Bucket``."""
        with self._told(prefix):
            listing = self._client.list_blobs(self._bucket, prefix=prefix, delimiter="/", **self._how)
            names = [blob.name for blob in listing]  # the folders are known once the objects are read
        return sorted({name[len(prefix) :].rstrip("/") for name in (*names, *listing.prefixes)} - {""})

    @contextmanager
    def _told(self, name: str) -> Iterator[None]:
        """Turns what Google's client raises into errors that do not depend on it."""
        address, errors = f"{self.address}/{name}".rstrip("/"), self._errors
        try:
            yield
        except errors.NotFound as error:
            raise FileNotFoundError(errno.ENOENT, "no such file", address) from error
        except errors.PreconditionFailed as error:
            raise ChangedError("was changed by another process", address) from error
        except errors.Unauthorized as error:
            raise StoreSetupError(f"the credentials are refused; {_LOGIN}", address) from error
        except errors.Forbidden as error:
            raise PermissionError(errno.EACCES, f"permission denied ({_first_line(error)})", address) from error
        except (self._auth_errors.RefreshError, self._auth_errors.DefaultCredentialsError) as error:
            message = f"the credentials do not work ({_first_line(error)}); {_LOGIN}"
            raise StoreSetupError(message, address) from error
        except (errors.GoogleAPIError, self._auth_errors.GoogleAuthError, self._transport_errors, OSError) as error:
            server = os.environ.get(EMULATOR_VARIABLE) or "Google Cloud Storage"
            if any(sign in str(error) for sign in ("NewConnectionError", "NameResolutionError")):
                raise StoreError(f"{server} cannot be reached", address) from error
            raise StoreError(f"{server} does not answer as it should ({_first_line(error)})", address) from error


def _credentials(address: str) -> tuple[Any, Any]:
    """Returns the credentials of the environment and their project, within seconds."""
    # Off Google's machines nobody answers for the metadata server: one short attempt instead of three long ones.
    os.environ.setdefault("GCE_METADATA_TIMEOUT", "1")
    os.environ.setdefault("GCE_METADATA_DETECT_RETRIES", "1")
    auth = importlib.import_module("google.auth")
    errors = importlib.import_module("google.auth.exceptions")
    for name in ("google.auth.compute_engine._metadata", "google.auth._default"):
        logging.getLogger(name).setLevel(logging.ERROR)  # the error below says it once
    try:
        credentials, project = auth.default(scopes=[_SCOPE])
    except errors.GoogleAuthError as error:
        why = "" if "were not found" in str(error) else f" that can be used ({_first_line(error)})"
        raise StoreSetupError(f"there are no credentials for Google Cloud{why}; {_LOGIN}", address) from None
    return credentials, project


def _stat(blob: Any) -> ObjectStat:
    return ObjectStat(str(blob.name), int(blob.size), int(blob.generation), blob.updated)


def _first_line(error: BaseException) -> str:
    cause = getattr(error, "cause", None) or error
    words = getattr(cause, "message", None) or (cause.args[0] if cause.args else cause)
    lines = str(words).strip().splitlines()
    return lines[0][:200] if lines else type(cause).__name__
