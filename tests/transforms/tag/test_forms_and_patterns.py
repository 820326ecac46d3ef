import pytest

from transforms.tag.forms import regular_forms
from transforms.tag.model import Term
from transforms.tag.patterns import patterns_of, surface_key, surfaces
from transforms.tag.term_text import term_fault


@pytest.mark.parametrize(
    ("text", "inflect", "language", "forms"),
    [
        ("migrant", "noun", "en", ["migrants"]),
        ("sanctuary city", "noun", "en", ["sanctuary cities"]),
        ("campus", "noun", "en", ["campuses"]),
        ("journey", "noun", "en", ["journeys"]),
        ("deport", "verb", "en", ["deports", "deported", "deporting"]),
        ("immigrate", "verb", "en", ["immigrates", "immigrated", "immigrating"]),
        ("deny entry", "verb", "en", ["denies entry", "denied entry", "denying entry"]),
        ("ban", "verb", "en", ["bans", "baned", "baning", "banned", "banning"]),
        ("migración", "noun", "es", ["migraciónes"]),
        ("ciudad santuario", "noun", "es", ["ciudades santuario", "ciudades santuarios"]),
        ("luz", "noun", "es", ["luces"]),
        ("deportação", "noun", "pt", ["deportações"]),
        ("ordem", "noun", "pt", ["ordens"]),
        ("migrante", "noun", "it", ["migranti"]),
        ("travail", "noun", "fr", ["travails"]),
        ("tribunal", "noun", "fr", ["tribunaux"]),
        ("asile", "none", "fr", []),
    ],
)
def test_regular_forms(text, inflect, language, forms):
    assert regular_forms(text, inflect, language) == forms


def test_german_is_also_found_without_umlauts():
    assert surfaces(Term("Flüchtling*", "de")) == ["Flüchtling*", "Fluechtling*"]
    assert surfaces(Term("Außengrenze", "de")) == ["Außengrenze", "Aussengrenze"]


def test_a_hyphen_may_be_a_blank_or_nothing():
    spelled = [pattern for pattern, joined in patterns_of("self-deport") if not joined]
    assert {"self deport", "selfdeport"} <= set(spelled)


def test_a_quotation_mark_may_stand_beside_a_blank():
    assert {"sanctuary' city", "sanctuary 'city"} <= {pattern for pattern, _ in patterns_of("sanctuary city")}


def test_words_are_joined_for_hashtags_only():
    assert ("sanctuarycity", True) in set(patterns_of("sanctuary city"))
    assert all(not joined for _, joined in patterns_of("migrant"))


def test_surfaces_that_find_the_same_have_one_key():
    assert surface_key("Sanctuary-City", False) == surface_key("sanctuary city", False)
    assert surface_key("ICE", True) != surface_key("Ice", True)
    assert surface_key("Asyl*", False) != surface_key("Asyl", False)


@pytest.mark.parametrize(
    ("text", "exact", "part"),
    [
        ("*asyl", False, "end"),
        ("as*yl", False, "end"),
        ("Asy*", False, "4 letters"),
        ("us", False, "case: exact"),
        ("--", False, "no letter"),
        ("$words", False, "write the terms out"),
        ("x" * 201, False, "shorten"),
    ],
)
def test_faulty_terms_are_told_with_the_mend(text, exact, part):
    assert part in (term_fault(text, exact) or "")


@pytest.mark.parametrize(
    ("text", "exact"), [("EU", True), ("移民", False), ("難", False), ("ICE", False), ("Asyl*", False)]
)
def test_short_terms_are_fine_where_they_mean_something(text, exact):
    assert term_fault(text, exact) is None
