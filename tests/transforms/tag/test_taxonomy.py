import pickle

import pytest
from make_taxonomy import SHIPPED, load

from transforms import schema
from transforms.tag.model import LEVELS, canonical_json
from transforms.tag.taxonomy import load_taxonomy
from transforms.yaml_file import ProblemsError


def problems(tmp_path, *files):
    with pytest.raises(ProblemsError) as caught:
        load(tmp_path, *files)
    return caught.value.problems


def only_problem(tmp_path, *files):
    found = problems(tmp_path, *files)
    assert len(found) == 1, [str(problem) for problem in found]
    return found[0]


def test_a_topic_in_two_lines_is_enough(tmp_path):
    taxonomy = load(tmp_path, "topics:\n  - id: border_wall\n    terms: [border wall, border fence]\n")
    topic = taxonomy.topic("border_wall")
    assert [term.term_id for term in topic.terms] == ["en:border wall", "en:border fence"]
    assert topic.label == {"en": "border_wall"}
    assert topic.thresholds == (0.01, 3.0, 7.0)


def test_topics_may_be_a_block_and_a_topic_a_list(tmp_path):
    taxonomy = load(tmp_path, "topics:\n  border_wall: [border wall]\n  ferry: {terms: {de: [Fähre]}}\n")
    assert [term.term_id for topic in taxonomy.topics for term in topic.terms] == ["en:border wall", "de:Fähre"]


def test_all_parts_of_a_topic_are_read(tmp_path):
    taxonomy = load(
        tmp_path,
        """
id: courier
version: 1.10
default_language: fr
thresholds: {primary: 9}
lists: {context: [ferry, $more], more: [port, {text: dock, case: exact}, ICE]}
topics:
  - {id: sea, terms: [mer]}
  - id: ship
    label: {fr: Navire, en: Ship}
    scope_note: Not the verb.
    broader: sea
    implies: [sea]
    thresholds: {relevant: 1.5}
    terms:
      fr:
        - text: navire
          forms: [navires]
          case: exact
          weight: 0.5
          requires: {any_near: [$context], distance: 10}
          none_near: {terms: [spatial], distance: 3, unless_in_doc: [mer]}
    exclude: {fr: [navire amiral]}
    examples:
      match: [Le navire entre au port.]
      no_match: [{text: Nothing here., language: en}]
""",
    )
    assert (taxonomy.id, taxonomy.version, taxonomy.default_language) == ("courier", "1.10", "fr")
    ship = taxonomy.topic("ship")
    assert (ship.broader, ship.implies, ship.scope_note) == (("sea",), ("sea",), "Not the verb.")
    assert ship.thresholds == (0.01, 1.5, 9.0)
    (term,) = ship.terms
    assert (term.forms, term.case_exact, term.weight) == (("navires",), True, 0.5)
    near = term.conditions.any_near
    assert near is not None
    assert near.distance == 10
    assert near.phrases == (("ferry", False), ("port", False), ("dock", True), ("ICE", True))
    assert term.conditions.none_near == ((("spatial", False),), 3)
    assert term.conditions.unless_in_doc == (("mer", False),)
    assert [example.language for example in ship.examples] == [None, "en"]


def test_the_taxonomy_can_be_pickled():
    taxonomy = load_taxonomy([SHIPPED])
    assert pickle.loads(pickle.dumps(taxonomy)) == taxonomy


def test_levels_are_those_of_the_schema():
    assert LEVELS == schema.LEVELS


BASE = "topics:\n  - id: sea\n    terms: [harbour, ferry]\n"


def test_the_hash_is_of_the_content_not_of_the_bytes(tmp_path):
    one = load(tmp_path, BASE).sha256
    same = load(
        tmp_path, '# a comment\ntopics:\n- terms: ["ferry", harbour]\n  id: sea\n  scope_note: About ships.\n'
    ).sha256
    assert one == same
    assert len(one) == 64


@pytest.mark.parametrize(
    "other",
    [
        BASE.replace("ferry", "ferries"),
        BASE + "    thresholds: {relevant: 2}\n",
        BASE + "    exclude: [pearl harbour]\n",
        BASE.replace("[harbour", "[{text: harbour, weight: 0.5}"),
        "version: 2\n" + BASE,
        "default_language: de\n" + BASE,
    ],
)
def test_the_hash_changes_with_whatever_decides_tags(tmp_path, other):
    assert load(tmp_path, BASE).sha256 != load(tmp_path, other).sha256


def test_the_canonical_form_is_plain_json(tmp_path):
    assert canonical_json(load(tmp_path, BASE)).startswith('{"default_language":"en","id":"topics0","rules":')


def test_a_later_file_extends_a_topic(tmp_path):
    taxonomy = load(
        tmp_path,
        "id: first\ntopics:\n  - id: sea\n    label: Sea\n    terms: [harbour, {text: ferry, weight: 0.5}]\n",
        "topics:\n  - id: sea\n    thresholds: {relevant: 1}\n    terms: [Ferry, lighthouse]\n"
        "  - {id: sky, terms: [cloud]}\n",
    )
    sea = taxonomy.topic("sea")
    assert [(term.text, term.weight) for term in sea.terms] == [("harbour", 1.0), ("Ferry", 1.0), ("lighthouse", 1.0)]
    assert sea.label == {"en": "Sea"}
    assert sea.thresholds[1] == 1.0
    assert [topic.id for topic in taxonomy.topics] == ["sea", "sky"]
    assert taxonomy.id == "first"


def test_a_later_file_may_replace_a_topic(tmp_path):
    taxonomy = load(tmp_path, BASE, "topics:\n  - {id: sea, replace: true, terms: [ocean]}\n")
    assert [term.text for term in taxonomy.topic("sea").terms] == ["ocean"]


def test_a_later_file_may_use_the_lists_of_an_earlier_one(tmp_path):
    condition = "requires: {any_in_doc: [$ships]}"
    taxonomy = load(
        tmp_path,
        "lists: {ships: [ferry]}\ntopics: [{id: sea, terms: [harbour]}]\n",
        f"topics:\n  - id: port\n    terms: [{{text: dock, {condition}}}]\n",
    )
    assert taxonomy.topic("port").terms[0].conditions.any_in_doc == (("ferry", False),)


@pytest.mark.parametrize(
    ("text", "place", "key", "parts"),
    [
        ("topics:\n  - id: sea\n    term: [a harbour]\n    terms: [ferry]\n", (3, 5), "topics[0].term",
         ["unknown key", "terms"]),
        ("topcis: []\ntopics: [{id: sea, terms: [ferry]}]\n", (1, 1), "topcis", ["topics"]),
        (BASE + "  - id: sea\n    terms: [ocean]\n", (4, 9), "topics[1].id", ["line 2"]),
        (BASE.replace("ferry", "Harbour"), (3, 22), "sea.terms", ["twice", "remove"]),
        (BASE.replace("ferry", "{text: ferry, forms: [Ferry]}"), (3, 22), "sea.terms", ["twice"]),
        (BASE.replace("ferry", "uk"), (3, 22), "topics[0].terms[1]", ["too short", "case: exact"]),
        (BASE.replace("ferry", '""'), (3, 22), "topics[0].terms[1]", ["empty"]),
        (BASE.replace("ferry", "fer*ry"), (3, 22), "topics[0].terms[1]", ["end"]),
        (BASE.replace("ferry", "fe*"), (3, 22), "topics[0].terms[1]", ["4 letters"]),
        (BASE.replace("ferry", "on"), (3, 22), "topics[0].terms[1]", ['"on"', "quotes"]),
        (BASE.replace("ferry", "287"), (3, 22), "topics[0].terms[1]", ['"287"']),
        (BASE.replace("ferry", "~"), (3, 22), "topics[0].terms[1]", ["quotes"]),
        (BASE + "    exclude: [the harbour, harbour]\n", (3, 13), "sea.terms", ["never count", "exclusion"]),
        (BASE + "    thresholds: {relevant: 8}\n", (4, 17), "sea.thresholds", ["rise", "primary 7"]),
        (BASE + "    thresholds: {relevant: 0}\n", (4, 28), "topics[0].thresholds.relevant", ["above 0"]),
        (BASE + "    thresholds: {relevnt: 2}\n", (4, 18), "topics[0].thresholds.relevnt", ["relevant"]),
        (BASE.replace("ferry", "{text: ferry, weight: 0}"), (3, 44), "topics[0].terms[1].weight", ["above 0"]),
        (BASE.replace("ferry", "{text: ferry, weight: much}"), (3, 44), "topics[0].terms[1].weight", ["number"]),
        (BASE.replace("ferry", "{text: ferry, case: exactly}"), (3, 42), "topics[0].terms[1].case", ["exact"]),
        ("topics:\n  - id: sea\n    terms: {de: [{text: Fähre, inflect: verb}]}\n", (3, 18), "sea.terms", ["forms"]),
        (BASE.replace("[harbour, ferry]", "{jp: [minato]}"), (3, 13), "topics[0].terms.jp", ['"ja"']),
        (BASE.replace("[harbour, ferry]", "{en-US: [harbor]}"), (3, 13), "topics[0].terms.en-US", ['"en"']),
        ("default_language: english\n" + BASE, (1, 19), "default_language", ['"en"']),
        (BASE + "    implies: [seas]\n", (4, 15), "sea.implies", ["seas", '"sea"']),
        (BASE + "    implies: [sea]\n", (4, 14), "sea.implies", ["circle"]),
        (BASE + "    requires: {any_near: [ship]}\n", (4, 15), "topics[0].requires.distance", ["add `distance: 20`"]),
        (BASE + "    requires: {any_near: [ship], distance: 0}\n", (4, 44), "topics[0].requires.distance", ["above 0"]),
        (BASE + "    requires: {any_near: [ship], distance: 2.5}\n", (4, 44), "topics[0].requires.distance", ["whole"]),
        (BASE + "    requires: {}\n", (4, 15), "topics[0].requires", ["any_near"]),
        (BASE + "    none_near: {terms: [], distance: 3}\n", (4, 16), "topics[0].none_near", ["at least one"]),
        (BASE + "    requires: {any_in_doc: [$ship]}\n", (4, 29), "topics[0].requires.any_in_doc[0]",
         ["no list $ship"]),
        ("lists: {ship: [$boat], boat: [$ship]}\n" + BASE, (1, 31), "lists.boat[0]", ["itself"]),
        (BASE.replace("ferry", "$ships"), (3, 22), "topics[0].terms[1]", ["write the terms out"]),
        ("topics:\n  - terms: [harbour]\n", (2, 5), "topics[0]", ["id"]),
        ("topics:\n  - id: The Sea\n    terms: [harbour]\n", (2, 9), "topics[0].id", ['"the_sea"']),
        ("topics:\n  - id: sea\n", (2, 5), "sea", ["terms"]),
        ("topics: sea\n", (1, 9), "topics", ["list"]),
        ("id: nothing\n", (1, 1), "", ["topics"]),
        ("", (1, 1), "", ["empty"]),
        ("topics: [\n", (2, 1), "", ["YAML"]),
        (BASE + "    terms: [ocean]\n", (4, 5), "topics[0].terms", ["twice", "line 3"]),
        ("topcs: [{id: sea}]\n", (1, 1), "topcs", ['did you mean "topics"?']),
        ("topics: [{id: sea, terms: [{text: ship, inflect: noun}, ships]}]\n", (1, 28), "sea.terms", ["inflect", "1:57"]),
        ("topics: [{id: sea, terms: 'ship, quay'}]\n", (1, 27), "topics[0].terms", ["[ship, quay]"]),
        ("topics: [{id: sea, terms: ['dep(ort|ed)']}]\n", (1, 28), "topics[0].terms[0]", ["plain phrases"]),
        (
            "topics: [{id: sea, terms: [ship], requires: {any_naer: [quay]}}]\n",
            (1, 46), "topics[0].requires.any_naer", ['did you mean "any_near"?'],
        ),
    ],
)  # fmt: skip
def test_each_mistake_is_told_with_place_and_mend(tmp_path, text, place, key, parts):
    problem = only_problem(tmp_path, text)
    assert problem.mark[1:] == place
    assert problem.mark.file == str(tmp_path / "topics0.yaml")
    assert problem.key == key
    for part in parts:
        assert part in problem.message


def test_a_circle_over_several_topics_is_told_once(tmp_path):
    text = "topics:\n" + "".join(
        f"  - {{id: {one}, implies: [{other}], terms: [{one} word]}}\n" for one, other in ("ab", "bc", "ca")
    )
    assert "a -> b -> c -> a" in only_problem(tmp_path, text).message


def test_all_mistakes_of_all_files_are_told_at_once(tmp_path):
    found = problems(
        tmp_path, BASE.replace("ferry", "on"), "topics:\n  - id: sky\n    terms: [{text: cloud, weight: -1}, uk]\n"
    )
    assert [(problem.mark.file[-12:], problem.mark.line) for problem in found] == [
        ("topics0.yaml", 3),
        ("topics1.yaml", 3),
        ("topics1.yaml", 3),
    ]


def test_a_term_that_is_not_nfc_is_read_as_nfc_and_noted(tmp_path):
    taxonomy = load(tmp_path, BASE.replace("ferry", "inmigracio\u0301n"))
    assert taxonomy.topic("sea").terms[1].text == "inmigraci\u00f3n"
    (note,) = taxonomy.notes
    assert (note.mark.line, note.mark.column) == (3, 22)
    assert "NFC" in note.message


def test_words_that_yaml_misreads_are_fine_in_quotes(tmp_path):
    taxonomy = load(
        tmp_path,
        'topics: [{id: section, terms: ["287", "on", "no entry"]}]'.replace('"on"', "{text: 'ON', case: exact}"),
    )
    assert [term.text for term in taxonomy.topics[0].terms] == ["287", "ON", "no entry"]


def test_a_topic_without_terms_may_stand_over_others(tmp_path):
    taxonomy = load(
        tmp_path, BASE.replace("    terms", "    implies: [world]\n    terms") + "  - {id: world, label: World}\n"
    )
    assert taxonomy.topic("world").terms == ()


def test_an_exclusion_of_another_language_leaves_a_term_alive(tmp_path):
    topic = "topics: [{id: sea, terms: {fr: [quai], de: [Kai]}, exclude: {de: [quai]}}]\n"
    assert load(tmp_path, topic).topics[0].exclude[0].language == "de"


def test_another_file_may_add_what_inflection_makes(tmp_path):
    topic = "topics: [{id: sea, terms: [{text: ship, inflect: noun}]}]\n"
    assert len(load(tmp_path, topic, "topics: [{id: sea, terms: [ships]}]\n").topics[0].terms) == 2
