from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from transforms.language import detect, primary_tag, same_language


@pytest.mark.parametrize(
    ("text", "allowed"),
    [
        ("MAYOR SAYS CITY WILL NOT YIELD", "en und"),
        ("COUNCIL VOTES TO KEEP THE HARBOR OPEN ALL WINTER", "en"),
        ("LA ALCALDESA DIJO QUE NO CEDERÁ ANTE EL GOBIERNO", "es"),
        ("Breaking", "und"),
        ("404", "und"),
        ("ICE", "und"),
        ("OK", "und"),
        ("", "und"),
        ("🚨🚨", "und"),
        ("Live: Texas", "en und"),
        ("DACA: ¿y ahora qué?", "es und"),
        ("並無更多消息", "zh und"),
        ("Los Angeles, San Francisco, San Diego", "und"),
        ("https://courier.example/the/new/story/of/the/day @desk #beds", "und"),
        ("The county board voted on Tuesday to pay for forty more beds at the intake centre.", "en"),
        ("El ayuntamiento aprobó el martes pagar cuarenta camas más en el centro de acogida.", "es"),
        ("Der Stadtrat beschloss am Dienstag, vierzig weitere Betten im Zentrum zu bezahlen.", "de"),
        ("Le conseil a voté mardi pour payer quarante lits de plus dans le centre d’accueil.", "fr"),
        ("Мэр города объявил в среду, что совет принял новый бюджет на следующий год.", "ru"),
        ("市長は水曜日、議会が新しい予算を承認したと発表した。", "ja"),
        ("市长星期三宣布议会通过了新的预算案", "zh"),
        ("시장은 수요일 의회가 새 예산을 승인했다고 발표했다", "ko"),
        ("أعلن رئيس البلدية يوم الأربعاء أن المجلس وافق على الميزانية", "ar"),
    ],
)
def test_the_language_is_found_or_left_open(text: str, allowed: str):
    assert detect(text) in allowed.split()


def test_the_answer_is_the_same_in_another_process():
    text = "Governor signs bill on shelters after a long night of talks"
    code = f"from transforms.language import detect; print(detect({text!r}))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert {detect(text) for _ in range(20)} == {other}


@given(st.text(max_size=100))
def test_any_text_has_a_tag(text: str):
    assert primary_tag(detect(text)) == detect(text)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("en-US", "en"),
        ("EN_gb", "en"),
        ("iw", "he"),
        ("nb-NO", "no"),
        ("", "und"),
        (None, "und"),
        ("x-default", "und"),
        ("english", "und"),
    ],
)
def test_tags_are_brought_to_their_primary_part(tag: str | None, expected: str):
    assert primary_tag(tag) == expected


def test_regions_and_scripts_do_not_part_a_language():
    assert same_language("en-GB", "en_US")
    assert same_language("zh-Hant", "zh")
    assert not same_language("pt", "es")


def test_a_full_or_closed_folder_for_temporary_files_changes_nothing():
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "from transforms.language import detect\n"
        "print(detect('Quilted ferries wander beneath seven copper lanterns near sleepy gulls.'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "en", done.stderr
