"""What an exception of the network means: an outcome, and words for people that show nothing of Python."""

from __future__ import annotations

import http.client
import ssl

import urllib3.exceptions

from transforms.fetch import coding, connection

_OWN: dict[type[Exception], str] = {
    connection.BlockedAddressError: "blocked_address",
    connection.UnknownHostError: "dns_error",
    coding.TooBigError: "too_big",
    coding.BadCodingError: "bad_coding",
}
# ValueError: from http.client, for headers and chunk sizes that are none.
_NETWORK = (OSError, http.client.HTTPException, urllib3.exceptions.HTTPError, ValueError)

FAILURES: tuple[type[Exception], ...] = (*_OWN, *_NETWORK)
"""What an exchange may raise; all else is a bug."""


def judge_failure(error: Exception) -> tuple[str, str]:
    """Returns the outcome that one of ``FAILURES`` stands for, one of ``rejects.FETCH_OUTCOMES``, and its meaning."""
    if type(error) in _OWN:
        return _OWN[type(error)], str(error)
    if isinstance(error, (TimeoutError, urllib3.exceptions.TimeoutError)):
        return "timeout", "no answer in time, or a silence that was too long"
    causes = [error, error.__cause__, *error.args]
    for cause in causes:
        if isinstance(cause, ssl.SSLError) and not isinstance(cause, ssl.SSLEOFError):
            return "tls_error", _words_of_tls(cause)
    return "connect_error", _words_of(causes)


def _words_of_tls(error: ssl.SSLError) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"the certificate is not trusted: {getattr(error, 'verify_message', None) or 'not for this host'}"
    reason = (error.reason or "it failed").replace("_", " ").lower()
    return f"no TLS connection: {reason}"


def _words_of(causes: list[object]) -> str:
    if any(isinstance(cause, http.client.RemoteDisconnected) for cause in causes):
        return "the server closed the connection without an answer"
    for cause in causes:
        if isinstance(cause, OSError) and cause.strerror:
            return cause.strerror.lower()
        if isinstance(cause, OSError) and str(cause).startswith("Tunnel connection failed: "):
            return f"the proxy opens no way to the host: {str(cause).partition(': ')[2]}"
    if any(isinstance(cause, (http.client.IncompleteRead, urllib3.exceptions.IncompleteRead)) for cause in causes):
        return "the answer broke off"
    return "the answer is no proper HTTP"
