"""The first use: what is missing is told at once, in a line that says what to do."""

from __future__ import annotations

import subprocess
import sys
import time

import pytest

from tests.gcs import stores
from tests.program import ROOT, newsbeam

pytestmark = pytest.mark.skipif(not stores.has_client(), reason="the extra gcp is not installed")
WITHOUT_LOGIN = {"GOOGLE_APPLICATION_CREDENTIALS": "", "STORAGE_EMULATOR_HOST": "", "CLOUDSDK_CONFIG": "/nowhere"}
USES = (
    ("run", "--seeds", "seeds/*.txt", "-d", "gs://newsbeam-nobody/out"),
    ("run", "--seeds", "gs://newsbeam-nobody/*.txt", "-d", "out"),
    ("query", "-d", "gs://newsbeam-nobody/out", "SELECT 1"),
    ("check", "-c", "gs://newsbeam-nobody/newsbeam.yaml"),
)


@pytest.mark.parametrize("words", USES, ids=lambda words: words[0])
def test_without_credentials(words):
    newsbeam("--version")
    began = time.monotonic()
    told = newsbeam(*words, check=False, env=WITHOUT_LOGIN)
    assert time.monotonic() - began < 25, "5 s on a machine that has nothing else to do"
    assert told.returncode == 2
    assert "no credentials for Google Cloud; run `gcloud auth application-default login`, or set" in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


def test_credentials_that_are_no_key_and_a_server_that_is_not_there(tmp_path):
    (tmp_path / "key.json").write_text('{"type": "service_account"}')
    told = newsbeam(
        *USES[0], check=False, env=WITHOUT_LOGIN | {"GOOGLE_APPLICATION_CREDENTIALS": str(tmp_path / "key.json")}
    )
    assert told.returncode == 2
    assert "no credentials for Google Cloud that can be used (" in told.stderr
    told = newsbeam(*USES[0], check=False, env={"STORAGE_EMULATOR_HOST": f"http://127.0.0.1:{stores.free_port()}"})
    assert told.returncode == 2
    assert "cannot be reached" in told.stderr


def test_a_bucket_that_is_not_there(emulator_root):
    told = newsbeam("run", "--seeds", "seeds/*.txt", "-d", "gs://no-such-bucket/out", check=False)
    assert told.returncode == 2
    assert told.stderr.strip().startswith("newsbeam: gs://no-such-bucket: no such bucket; correct the name, or `gcloud")


HIDDEN = (
    "import sys; sys.modules['google.cloud.storage'] = None\n"
    "from pipeline.cli import main\n"
    "raise SystemExit(main(sys.argv[1:]))\n"
)


@pytest.mark.parametrize("words", USES, ids=lambda words: words[0])
def test_without_the_extra(words):
    told = subprocess.run([sys.executable, "-c", HIDDEN, *words], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert told.returncode == 2
    assert "gs:// needs Google's client; install it with pip install 'newsbeam[gcp]'" in told.stderr
    assert len(told.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    "words", [("run", "--seeds", "seeds/*.txt", "-d", "s3://news/out"), ("query", "-d", "abfs://x/y", "SELECT 1")]
)
def test_a_store_that_is_not_supported(words):
    told = newsbeam(*words, check=False)
    assert told.returncode == 2
    assert "is not supported; name a local path or gs://" in told.stderr
