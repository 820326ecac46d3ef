import pytest

from transforms.tag.teasers import is_headline_inside, is_shouted, is_teaser


@pytest.mark.parametrize(
    "line",
    [
        "READ MORE: Orrin votes",
        "Read also: Orrin votes",
        "Related stories: three ferries",
        "Click here for the latest",
        ">> Recommended: the best ferries",
        "Sign up for the Harbour newsletter",
        "Follow us on Twitter for updates",
        "Tags: ferry, port",
        "Más información: el puerto",
        "Lea también: el puerto",
        "À lire aussi : le port",
        "Mehr zum Thema: Fähren",
        "Leia também: o porto",
        "Leggi anche: il porto",
    ],
)
def test_links_prompts_and_labels(line):
    assert is_teaser(line)


@pytest.mark.parametrize(
    "line",
    [
        "More than 200 people watched the ferry.",
        "Related to the mayor by marriage, he declined.",
        "Getting an app to run on the ferry took weeks.",
        "Follow the coast for two miles.",
        "Topics ranged from fish to fuel.",
        "Mehr als hundert Menschen kamen.",
        "Le port est fermé.",
        "See also how the port was built and " + "x" * 300,
    ],
)
def test_sentences_of_a_story(line):
    assert not is_teaser(line)


@pytest.mark.parametrize(
    ("line", "shouted"),
    [
        ("MAYOR WILL NOT YIELD", True),
        ("‘WE’VE WON’: McCABE CLOSES THE PORT", True),
        ("ICE", True),
        ("ICE closes the port", False),
        ("美国ICE官员逮捕了数百名移民", False),
        ("2026", False),
        ("", False),
    ],
)
def test_lines_in_capitals(line, shouted):
    assert is_shouted(line) is shouted


def test_a_line_in_capitals_is_a_headline_only_inside_usual_text():
    line = "MAYOR OF DUNMORE CLOSES THE PORT"
    story = f"The council met on Monday.\n\n{line}\n\nNobody spoke for an hour."
    assert is_headline_inside(line, story)
    assert not is_headline_inside(line, f"{line}\n\nThe council met on Monday.")
    assert not is_headline_inside(line, f"THE COUNCIL MET ON MONDAY.\n\n{line}\n\nNOBODY SPOKE.")
    assert not is_headline_inside("A SHORT HEADING", story)
