"""What both servers and the real service promise, and what newsbeam builds on it."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import pytest

from transforms.remote.bucket import MUST_NOT_EXIST, ChangedError, StoreSetupError, bucket_of
from transforms.remote.files import is_file, match, read_file, size_of
from transforms.remote.gcs import GcsBucket
from transforms.remote.reader import open_object
from transforms.write.storage import DatasetError, storage_of


def _fill(root: str, *names: str) -> None:
    bucket, prefix = bucket_of(root)
    for name in names:
        bucket.write(f"{prefix}/{name}", name.encode())


def test_an_object_is_written_read_and_removed(any_root):
    bucket, prefix = bucket_of(any_root)
    generation = bucket.write(f"{prefix}/a b/ü=1%.txt", b"0123456789")
    stat = bucket.stat(f"{prefix}/a b/ü=1%.txt")
    assert (stat.size_bytes, stat.generation) == (10, generation)
    assert bucket.read(stat.name) == b"0123456789"
    assert bucket.read(stat.name, 3, 4, generation) == b"3456"
    bucket.copy(stat.name, f"{prefix}/copy")
    bucket.delete(stat.name)
    bucket.delete(stat.name)
    assert bucket.stat(stat.name) is None
    assert bucket.read(f"{prefix}/copy") == b"0123456789"
    with pytest.raises(FileNotFoundError):
        bucket.read(stat.name)


def test_large_and_empty_objects(any_root):
    bucket, prefix = bucket_of(any_root)
    data = bytes(range(256)) * 40_000  # over the size up to which one request carries all
    bucket.write(f"{prefix}/large", data)
    with open_object(bucket, f"{prefix}/large") as file:
        assert file.seek(-5, 2) == len(data) - 5
        assert file.read() == data[-5:]
        file.seek(1_000_000)
        assert file.read(300_000) == data[1_000_000:1_300_000]
        file.seek(0)
        assert file.read() == data
    bucket.write(f"{prefix}/empty", b"")
    assert read_file(f"{any_root}/empty") == b""
    with open_object(bucket, f"{prefix}/empty") as file:
        assert file.read() == b""


def test_a_conditional_write_is_refused_when_another_was_first(fake_gcs_root):
    bucket, prefix = bucket_of(fake_gcs_root)
    first = bucket.write(f"{prefix}/x", b"1", MUST_NOT_EXIST)
    with pytest.raises(ChangedError):
        bucket.write(f"{prefix}/x", b"2", MUST_NOT_EXIST)
    second = bucket.write(f"{prefix}/x", b"3", first)
    assert second != first
    with pytest.raises(ChangedError):
        bucket.write(f"{prefix}/x", b"4", first)
    assert bucket.read(f"{prefix}/x") == b"3"


class _Refusing(BaseHTTPRequestHandler):
    """Answers as the real service does where a condition does not hold (412), which no emulator does for a removal."""

    asked: ClassVar[list[str]] = []

    def do_DELETE(self) -> None:
        self.asked.append(self.path)
        self.send_response(412)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


def test_a_removal_names_the_generation_that_it_means_and_hears_of_another(monkeypatch):
    pytest.importorskip("google.cloud.storage")
    with ThreadingHTTPServer(("127.0.0.1", 0), _Refusing) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://127.0.0.1:{server.server_port}")
        bucket = GcsBucket("gs://news")
        with pytest.raises(ChangedError, match="was changed by another process"):
            bucket.delete("a/b.parquet", if_generation=17)
        server.shutdown()
    (asked,) = _Refusing.asked
    assert "/b/news/o/a%2Fb.parquet?ifGenerationMatch=17" in asked


def test_a_reader_does_not_mix_two_generations(fake_gcs_root):
    bucket, prefix = bucket_of(fake_gcs_root)
    bucket.write(f"{prefix}/x", b"old")
    file = open_object(bucket, f"{prefix}/x")
    bucket.write(f"{prefix}/x", b"new")
    with pytest.raises(FileNotFoundError):
        file.read()


def test_patterns_stop_at_slashes_and_leave_hidden_folders_out(any_root):
    _fill(any_root, "a.txt", "b.html", "d/c.txt", "d/e/f.txt", "d/.hidden/g.txt")

    def found(pattern):
        return [address.removeprefix(f"{any_root}/") for address in match(f"{any_root}/{pattern}")]

    assert found("*.txt") == ["a.txt"]
    assert found("**/*.txt") == ["a.txt", "d/c.txt", "d/e/f.txt"]
    assert found("d/**") == ["d/c.txt", "d/e/f.txt"]
    assert found("[ab].*") == ["a.txt", "b.html"]
    assert found("a.txt") == ["a.txt"]
    assert found("none.txt") == []


def test_files_by_address(any_root):
    _fill(any_root, "conf/news.yaml")
    address = f"{any_root}/conf/news.yaml"
    assert is_file(address)
    assert not is_file(f"{any_root}/conf")
    assert size_of(address) == 14
    assert read_file(address, 4) == b"conf"
    with pytest.raises(FileNotFoundError):
        read_file(f"{any_root}/none")
    with pytest.raises(StoreSetupError, match="no such bucket"):
        read_file("gs://no-such-bucket/x")


def test_a_dataset_looks_like_folders(any_root):
    storage = storage_of(any_root)
    storage.write("articles/ingest_date=2026-11-30/a.parquet", b"1")
    storage.write("articles/ingest_date=2026-12-01/b.parquet", b"2")
    storage.write("_runs/a.json", b"3")
    assert storage.names("") == ["_runs", "articles"]
    assert storage.names("articles") == ["ingest_date=2026-11-30", "ingest_date=2026-12-01"]
    assert storage.names("nowhere") == []
    assert not storage.exists("articles")
    storage.move("articles/ingest_date=2026-11-30/a.parquet", "articles/ingest_date=2026-12-01/b.parquet")
    assert storage.read("articles/ingest_date=2026-12-01/b.parquet") == b"1"
    assert storage.names("articles") == ["ingest_date=2026-12-01"]
    storage.delete_tree("articles")
    storage.delete_tree("articles")
    assert storage.names("") == ["_runs"]
    with pytest.raises(DatasetError, match=r"cannot read gs://.*/_runs/none\.json: no such file"):
        storage.read("_runs/none.json")


def test_a_file_that_is_written_anew_has_another_stamp(any_root):
    storage = storage_of(any_root)
    for path in ("_runs/a.json", "_runs/b.json", "_runs/deeper/c.json"):
        storage.write(path, b"1")
    before = storage.stamps("_runs")
    storage.write("_runs/a.json", b"1")
    after = storage.stamps("_runs")
    assert before.keys() == after.keys() == {"a.json", "b.json"}
    assert [name for name in after if after[name] != before[name]] == ["a.json"]
    assert storage.stamps("nowhere") == {}


def test_the_root_may_be_a_whole_bucket(any_root):
    bucket, prefix = bucket_of(any_root)
    bucket.write(f"{prefix}/x", b"")
    assert prefix in storage_of(any_root.rpartition("/")[0]).names("")


def test_a_bucket_that_is_not_there_is_told(any_root):
    with pytest.raises(StoreSetupError, match=r"^gs://no-such-bucket: no such bucket"):
        storage_of("gs://no-such-bucket/out")
