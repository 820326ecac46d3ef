import gzip
import json

import pytest

from transforms.tag.labelled import LabelledText, read_labelled

KNOWN = ("sea", "ship")


def read(folder, *lines, name="labelled.jsonl"):
    path = folder / name
    path.write_bytes(b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines))
    return list(read_labelled(path, KNOWN))


def test_labels_are_a_list_of_topics_or_flags_for_some_topics(tmp_path):
    texts = read(
        tmp_path,
        '{"title": "A\\n ferry", "text": "It sails.", "topics": ["sea", "ship"], "language": "en-GB", "more": 1}',
        "",
        '{"text": "Der Hafen", "topics": "sea", "lang": "de"}',
        '{"title": "Bread", "topics": []}',
        '{"text": "Waves", "label_sea": true, "label_ship": 0}',
    )
    assert [(text.mark.line, text.title, text.text) for text in texts] == [
        (1, "A ferry", "It sails."),
        (3, None, "Der Hafen"),
        (4, "Bread", ""),
        (5, None, "Waves"),
    ]
    assert [text.language for text in texts[:2]] == ["en", "de"]
    assert [sorted(text.topics) for text in texts] == [["sea", "ship"], ["sea"], [], ["sea"]]
    assert [text.judged for text in texts] == [None, None, None, {"sea", "ship"}]


def test_a_text_without_language_gets_that_of_a_run(tmp_path):
    text = "The ferry across the bay was late again this morning because of the fog over the harbour."
    (found,) = read(tmp_path, json.dumps({"text": text, "topics": []}))
    assert found.language == "en"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nonsense", "no JSON: "),
        ("[1]", "JSON, but no object: a list"),
        ('{"topics": []}', 'the object needs "text" or "title"'),
        ('{"texts": "x", "topics": []}', 'did you mean "text"?'),
        ('{"text": " ", "topics": []}', 'the object needs "text" or "title", with something in it'),
        ('{"text": 7, "topics": []}', '"text" must be a text'),
        ('{"text": "x"}', 'the object has no labels; add "topics": a list of topic ids, [] for none'),
        ('{"text": "x", "topic": ["sea"]}', 'did you mean "topics"?'),
        ('{"text": "x", "topics": 7}', '"topics" must be a list of topic ids'),
        ('{"text": "x", "topics": [7]}', '"topics" must be a list of topic ids'),
        ('{"text": "x", "label_sea": "perhaps"}', '"label_sea" must be true or false'),
        ('{"text": "x", "label_sea": []}', '"label_sea" must be true or false'),
        (b'{"text": "\xff\xfe", "topics": []}', "not UTF-8"),
        (b"\xff\xfe{\x00}\x00", "not UTF-8"),
    ],
)
def test_a_bad_line_is_named_and_costs_that_line(tmp_path, line, message):
    good = '{"text": "x", "topics": []}'
    first, bad, last = read(tmp_path, good, line, good)
    assert (first.mark.line, last.mark.line) == (1, 3)
    assert not isinstance(bad, LabelledText)
    assert message in bad.message
    assert str(bad).startswith(f"{tmp_path}/labelled.jsonl:2:1: ")


def test_an_unknown_topic_is_told_once_with_the_nearest(tmp_path):
    line = '{"text": "x", "topics": ["shipp", "moon"]}'
    found = read(tmp_path, line, line, '{"text": "x", "label_seas": false}')
    assert [(problem.mark.line, problem.key, problem.message) for problem in found] == [
        (1, "topics", 'there is no topic "moon"; topics are: sea, ship'),
        (1, "topics", 'there is no topic "shipp"; did you mean "ship"?'),
        (3, "topics", 'there is no topic "seas"; did you mean "sea"?'),
    ]


def test_gzip_is_told_by_its_bytes_and_a_cut_file_is_refused(tmp_path):
    packed = gzip.compress(b'{"text": "x", "topics": []}\n' * 50)
    assert len(read(tmp_path, packed)) == 50
    with pytest.raises(ValueError, match="cut or damaged"):
        read(tmp_path, packed[:-6])


def test_a_mark_at_the_beginning_is_no_text(tmp_path):
    (found,) = read(tmp_path, b'\xef\xbb\xbf{"text": "x", "topics": []}\r')
    assert found.text == "x"
