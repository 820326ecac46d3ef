from __future__ import annotations

from tests.transforms.stream.test_spool import _result
from transforms.remote.bucket import bucket_of
from transforms.stream.spool import SPOOL, Spool


def test_polls_are_kept_in_the_bucket_and_damaged_files_put_aside(any_root):
    first, second = Spool(any_root), Spool(any_root)
    first.add("vale-post.example", _result())
    assert [spooled.result for spooled in second.read()] == [_result()]

    bucket, prefix = bucket_of(any_root)
    (name,) = bucket.folder(f"{prefix}/{SPOOL}/")
    bucket.write(f"{prefix}/{SPOOL}/{name}", b"{")
    assert Spool(any_root).read() == []
    assert bucket.folder(f"{prefix}/{SPOOL}/") == [f"{name}.damaged"]

    first.add("vale-post.example", _result())
    first.remove(first.read()[0].name)
    first.remove("gone.json")
    assert second.read() == []
