"""The feeds file on the disk: its encoding, mode and link stay; it is written whole or not at all."""

from __future__ import annotations

import codecs
import os
from pathlib import Path

import pytest

from pipeline.config.model import FeedItem
from pipeline.errors import ConfigError
from pipeline.feeds.feeds_file import append, clean_name, fields_of

FERRY = FeedItem(url="https://ferry.example/rss", name="Le Phare à l'été")


@pytest.mark.parametrize(
    ("bom", "encoding"),
    [
        (b"", "utf-8"),
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
    ],
)
def test_the_encoding_stays(tmp_path, bom, encoding):
    path = tmp_path / "f.yaml"
    path.write_bytes(bom + "# été\r\n- https://a.example/f\r\n".encode(encoding))
    assert append(str(path), [FERRY]) == (3,)
    raw = path.read_bytes()
    assert raw.startswith(bom)
    assert raw[len(bom) :].decode(encoding) == (
        "# été\r\n- https://a.example/f\r\n- name: Le Phare à l'été\r\n  url: https://ferry.example/rss\r\n"
    )


def test_link_and_mode_stay_and_nothing_is_left_over(tmp_path):
    real, link = tmp_path / "real.yaml", tmp_path / "f.yaml"
    real.write_text("- https://a.example/f\n")
    real.chmod(0o640)
    link.symlink_to(real)
    append(str(link), [FERRY])
    assert link.is_symlink()
    assert "ferry" in real.read_text()
    assert real.stat().st_mode & 0o777 == 0o640
    assert sorted(os.listdir(tmp_path)) == ["f.yaml", "real.yaml"]


def test_what_is_no_text_is_left_alone(tmp_path):
    path = tmp_path / "f.yaml"
    path.write_bytes(b"- \xff\n")
    with pytest.raises(ConfigError, match="not UTF-8"):
        append(str(path), [FERRY])
    assert path.read_bytes() == b"- \xff\n"


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(FileNotFoundError) as raised:
        append(str(tmp_path / "nix" / "f.yaml"), [FERRY])
    assert raised.value.filename == str(tmp_path / "nix" / "f.yaml")
    assert Path(tmp_path).exists()


def test_all_keys_are_written_as_people_write_them():
    item = FeedItem.model_validate(
        {
            "url": "https://a.example/f?x=$1",
            "interval": "90m",
            "robots": "false",
            "tags": ["a", "$b"],
            "id": "a",
            "note": "n",
        }
    )
    assert fields_of(item) == {
        "id": "a",
        "url": "https://a.example/f?x=$$1",
        "interval": "1h30m",
        "robots": "false",
        "tags": ("a", "$$b"),
        "note": "n",
    }


@pytest.mark.parametrize(
    ("title", "name"),
    [(" A\n B\t", "A B"), ("\u202eA\u0000", "A"), ("", None), (None, None), ("x" * 500, "x" * 200), ("\u200b", None)],
)
def test_names_have_one_line_and_nothing_invisible(title, name):
    assert clean_name(title) == name
