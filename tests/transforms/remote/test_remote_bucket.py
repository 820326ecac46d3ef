"""Addresses of object stores where no store can be asked; tests/gcs has the rest."""

from __future__ import annotations

import pickle
import sys

import pytest

from transforms.remote.bucket import StoreSetupError, bucket_of, has_store, is_remote
from transforms.remote.files import _fits


def test_without_the_extra_a_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "google.cloud.storage", None)
    with pytest.raises(StoreSetupError) as raised:
        bucket_of("gs://harrow-bay-without-client/news")
    assert str(raised.value) == (
        "gs://harrow-bay-without-client: gs:// needs Google's client; install it with pip install 'newsbeam[gcp]'"
    )
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("s3://bucket/news", "s3:// is not supported; name a local path or gs://"),
        ("gs:///news", "names no bucket; write gs://bucket/path"),
    ],
)
def test_addresses_that_name_no_store(address, words):
    with pytest.raises(StoreSetupError, match=f"^{address}: {words}$"):
        bucket_of(address)


def test_what_is_an_address():
    assert [is_remote(path) for path in ("gs://b/x", "s3://b/x", "file:///x", "x/y", "gs")] == [True, True] + [
        False
    ] * 3
    assert [has_store(path) for path in ("gs://b/x", "s3://b/x", "gs")] == [True, False, False]


@pytest.mark.parametrize(
    ("name", "pattern", "fits"),
    [
        ("a/b.txt", "a/*.txt", True),
        ("a/b/c.txt", "a/*.txt", False),
        ("a/b/c.txt", "a/**/*.txt", True),
        ("a/c.txt", "a/**/*.txt", True),
        ("a/.b/c.txt", "a/**/*.txt", False),
        ("a/b/c.txt", "a/**", True),
        ("a", "a/**", False),
        ("a/b.txt", "a/[!b].txt", False),
        ("A/b.txt", "a/*.txt", False),
    ],
)
def test_patterns(name, pattern, fits):
    assert _fits(name.split("/"), pattern.split("/")) is fits
