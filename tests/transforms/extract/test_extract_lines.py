import pytest
from extract_examples import HEADLINE, PARAGRAPHS
from hypothesis import given
from hypothesis import strategies as st

from transforms.extract.lines import find_agency, is_capitals, is_credit, is_notice, sort_page_lines, sort_text_lines

STORY = "\n".join(PARAGRAPHS)


@pytest.mark.parametrize(
    "line",
    [
        "Ada Quennell and Ivo Brandt contributed to this report.",
        "Brackwater Post's Ada Quennell contributed to this report.",
        "(Reporting by Ada Quennell; Editing by Ivo Brandt)",
        "Additional reporting by Ivo Brandt in Oxmere",
        "— With assistance from Ivo Brandt",
        "Associated Press writer Ada Quennell in Oxmere contributed to this report.",
        "Mit Material von dpa",
        "(avec AFP)",
        "Con información de EFE",
        "(dpa)",
        "Reuters",
        "This article was originally published by the Oxmere Herald.",
    ],
)
def test_credits_at_the_end_leave_the_text(line):
    placed = sort_text_lines(f"{STORY}\n{line}")
    assert placed.text == STORY
    assert placed.credits == (line,)


@pytest.mark.parametrize(
    "line",
    [
        "The minister contributed to this report of failure by saying nothing for a year, the opposition replied on Friday.",
        "“Reporting is a craft,” said Ada Quennell.",
        "He works for Reuters in Oxmere and has two sons.",
    ],
)
def test_sentences_about_reports_are_no_credits(line):
    assert not is_credit(line) or "contributed to this report" in line
    if "contributed" not in line:
        assert sort_text_lines(f"{STORY}\n{line}").credits == ()


def test_a_text_of_one_sentence_stays_whole():
    assert sort_text_lines("Reporting by Ada Quennell").text == "Reporting by Ada Quennell"
    assert sort_text_lines("The quay is open.").text == "The quay is open."


@pytest.mark.parametrize(
    "line",
    [
        "To keep reading, subscribe today and get your first month for one crown.",
        "Already a subscriber? Log in here to continue.",
        "This article is for subscribers only.",
        "We and our 812 partners store and access cookies on your device.",
        "Sign up for our morning newsletter to get the day in your inbox.",
        "Dieser Artikel ist nur für Abonnenten.",
        "Déjà abonné ? Connectez-vous.",
        "Este artículo es exclusivo para suscriptores",
        "© 2026 Brackwater Post. All rights reserved.",
        "この記事は会員限定です。",
    ],
)
def test_prompts_of_the_house_become_notices(line):
    placed = sort_page_lines(f"{PARAGRAPHS[0]}\n{line}\n{PARAGRAPHS[1]}")
    assert placed.notices == (line,)
    assert placed.text == "\n".join(PARAGRAPHS[:2])


@pytest.mark.parametrize(
    "line",
    [
        "The company said it would send subscribers a newsletter every week.",
        "“We use cookies like everybody else,” the minister told parliament.",
        "Police said the phone app had stored the partners of four million people.",
        "The union asked its members to subscribe to the strike fund.",
        "She started a weekly newsletter on the fish market, and two thousand people subscribe to it.",
        "He was invited to join the discussion in parliament on Friday.",
        "The ballots were independently reviewed by two judges.",
        "Passengers have to download the harbour's app before they may board.",
        "Bürger können sich am Hafen kostenlos testen lassen.",
        "Die Partei verschickte einen Newsletter, in dem sie über die Fähre informierte.",
    ],
)
def test_sentences_about_such_things_stay(line):
    assert not is_notice(line)


def test_teasers_in_capitals_are_marked_where_they_stand():
    teaser = "'WE ARE NOT AFRAID': OXMERE FISHERMEN SAIL INTO THE FORBIDDEN ZONE AT NIGHT"
    placed = sort_text_lines(f"{PARAGRAPHS[0]}\n{teaser}\n{PARAGRAPHS[1]}\nWHAT WE KNOW\n{PARAGRAPHS[2]}")
    assert [(placed.text[b.start : b.end], b.kind) for b in placed.boilerplate] == [(teaser, "teaser")]
    assert teaser in placed.text


def test_a_text_written_in_capitals_has_no_teasers():
    assert sort_text_lines("\n".join(text.upper().rstrip(".") for text in PARAGRAPHS)).boilerplate == ()


def test_lines_that_lead_elsewhere_are_marked():
    placed = sort_text_lines(f"{PARAGRAPHS[0]}\nRead more: Divers find an older quay\n{PARAGRAPHS[1]}")
    assert [(placed.text[b.start : b.end], b.kind) for b in placed.boilerplate] == [
        ("Read more: Divers find an older quay", "promo")
    ]


def test_what_a_page_repeats_is_dropped_and_said():
    text = "\n".join(
        [
            HEADLINE,
            "By Ada Quennell",
            "4 March 2026, 09:30",
            "Advertisement",
            PARAGRAPHS[0],
            "___",
            PARAGRAPHS[1],
            "Comments",
        ]
    )
    placed = sort_page_lines(text, (HEADLINE,), ("Ada Quennell",))
    assert placed.text == "\n".join(PARAGRAPHS[:2])
    assert placed.dropped == (HEADLINE, "By Ada Quennell", "4 March 2026, 09:30", "Advertisement", "___", "Comments")


def test_texts_that_are_no_pages_lose_nothing_but_credits_and_notices():
    text = "\n".join(["4 March 2026", "Advertisement", *PARAGRAPHS])
    assert sort_text_lines(text).text == text


def test_notes_on_the_author_and_picture_credits_are_credits():
    note = "Ada Quennell is a staff writer for the Brackwater Post. Follow her on Twitter @adaquennell."
    placed = sort_page_lines("\n".join(["Photo: Ivo Brandt/Brackwater Post", *PARAGRAPHS, note]), (), ("Ada Quennell",))
    assert placed.text == STORY
    assert placed.credits == ("Photo: Ivo Brandt/Brackwater Post", note)


@pytest.mark.parametrize(
    "line", ["var player = {autoplay: true}; loadPlayer(player);", "window.adQueue=window.adQueue||[];"]
)
def test_code_is_no_text(line):
    assert sort_page_lines(f"{PARAGRAPHS[0]}\n{line}\n{PARAGRAPHS[1]}").text == "\n".join(PARAGRAPHS[:2])


@pytest.mark.parametrize(
    "line",
    [
        "Anyone with information is asked to contact Detective Roth at 555-0134.",
        "Roth, 54, was a reporter for a rival paper when he was arrested.",
        "“He is a good editor,” she added, and closed the door.",
        "The police asked witnesses to follow them on foot.",
    ],
)
def test_the_last_sentence_of_a_story_is_no_note_on_its_author(line):
    assert sort_page_lines("\n".join([*PARAGRAPHS, line]), (), ("Ada Quennell",)).text.endswith(line)


@pytest.mark.parametrize(
    "line",
    [
        "Ivo Brandt is a staff writer at the Brackwater Post covering the harbour.",
        "Ada Quennell writes about boats.",
        "Send tips to desk@brackwater-post.example and follow her on X @adaquennell.",
        "Have a tip? Ada Quennell may be reached at ada@brackwater-post.example.",
        "ada@brackwater-post.example",
    ],
)
def test_notes_on_the_author_leave_the_end_of_the_text(line):
    assert sort_page_lines("\n".join([*PARAGRAPHS, line]), (), ("Ada Quennell",)).credits == (line,)


def test_the_agency_is_known_by_dateline_credit_or_author():
    assert find_agency("OXMERE (Reuters) - Boats sail again.") == "Reuters"
    assert find_agency("Boats sail again.", ("The Associated Press contributed to this report.",)) == "AP"
    assert find_agency("Boats sail again.", (), ("Agence France-Presse",)) == "AFP"
    assert find_agency("Boats (and ferries) - sail again.") is None


def test_capitals_need_letters():
    assert is_capitals("OXMERE FISHERMEN SAIL")
    assert not is_capitals("12:30 – 14:45")
    assert not is_capitals("東京都は新しい港の計画を発表した")


@given(st.lists(st.text(max_size=120), max_size=12))
def test_ranges_lie_in_the_text_and_no_line_is_lost(lines):
    text = "\n".join(lines)
    placed = sort_text_lines(text)
    for found in placed.boilerplate:
        assert 0 <= found.start < found.end <= len(placed.text)
        assert "\n" not in placed.text[found.start : found.end]
    kept = placed.text.split("\n")
    for line in text.split("\n"):
        assert not line.strip() or line in kept or line in placed.credits or line in placed.notices


@pytest.mark.parametrize(
    "line", ["reporting by " * 40, "follow a on " * 40, "newsletter " * 28, "get " * 80, "a" * 500, "(" * 500]
)
def test_no_line_takes_long(line):
    import time

    start = time.perf_counter()
    sort_page_lines("\n".join([PARAGRAPHS[0]] + [line] * 20), (HEADLINE,), ("Ada Quennell",))
    assert time.perf_counter() - start < 2
