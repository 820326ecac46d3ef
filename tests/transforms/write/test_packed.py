"""Text is packed on its way and written as it was."""

from __future__ import annotations

import pickle

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from tests.transforms.write.make_items import START, run_at, tagged
from transforms.write.encode import encode, to_table
from transforms.write.packed import PackedText, pack
from transforms.write.rows import checked_article_row

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(TEXTS)
def test_a_text_comes_back_whole_also_from_another_process(text: str) -> None:
    packed = pickle.loads(pickle.dumps(pack(text)))
    assert isinstance(packed, PackedText)
    assert (str(packed), len(packed), bool(packed)) == (text, len(text), bool(text))


def test_no_text_stays_no_text() -> None:
    assert pack(None) is None


def test_packed_rows_give_the_same_file() -> None:
    rows = [item_row(number) for number in range(3)]
    rows[1]["text"] = None
    packed = [row | {"text": pack(row["text"])} for row in rows]
    assert to_table("articles", packed)["text"].to_pylist() == [rows[0]["text"], None, rows[2]["text"]]
    assert encode("articles", packed) == encode("articles", rows)
    assert to_table("articles", packed).schema.field("text").type == pa.string()


def item_row(number: int) -> dict[str, object]:
    row, reject = checked_article_row(tagged(f"https://a.example/{number}"), run_at())
    assert reject is None
    assert row is not None
    return row | {"revision": 1, "first_seen_at": START}
