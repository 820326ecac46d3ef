"""What reaches a terminal, a pipe, a log."""

from __future__ import annotations

import io
import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cli import output


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_no_colours_outside_a_terminal():
    assert output.styled("hit", "hit", io.StringIO()) == "hit"


def test_colours_on_a_terminal(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert output.styled("hit", "bold", Terminal()) == "\x1b[1mhit\x1b[0m"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_no_colours_where_they_are_not_wanted(name, value, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv(name, value)
    assert output.styled("hit", "bold", Terminal()) == "hit"


def test_a_closed_stream_is_no_terminal():
    stream = io.StringIO()
    stream.close()
    assert not output.is_terminal(stream)


def test_text_cannot_steer_a_terminal():
    assert output.printable("a\x1b[2J\x07\u202eb\x9bc\n") == "a\\x1b[2J\\x07\\x202eb\\x9bc\n"


@given(st.text())
def test_no_text_keeps_an_escape_or_a_carriage_return(text):
    shown = output.printable(text)
    assert not set("\x00\x07\x08\r\x1b\x7f\x9b\u202e\u2066") & set(shown)


def test_a_table_aligns_letters_of_any_width():
    shown = output.table(
        ("name", "n"),
        [
            ("东京新闻", 1),
            ("Ærø", 22),
        ],
        io.StringIO(),
    )
    assert shown.splitlines() == [
        "name       n",
        "--------  --",
        "东京新闻   1",
        "Ærø       22",
    ]


def test_a_table_outside_a_terminal_is_never_cut():
    assert "x" * 500 in output.table(("a",), [("x" * 500,)], io.StringIO())


def test_a_table_on_a_terminal_fits_it(monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    lines = output.table(("a", "b"), [("x" * 100, "东" * 100)], Terminal()).splitlines()
    assert all(output.width_of(line) <= 40 for line in lines)
    assert lines[2].startswith("x" * 18 + "…")


def test_line_breaks_in_cells_become_blanks():
    assert "a b" in output.table(("t",), [("a\nb",)], io.StringIO())


def test_a_table_without_rows_has_its_header():
    assert output.table(("a", "b"), [], io.StringIO()).splitlines()[0] == "a  b"


def test_the_log_is_a_line_on_stderr_and_no_traceback(capsys):
    output.set_up_logging(0)
    log = logging.getLogger("newsbeam.test")
    try:
        raise KeyError("x")
    except KeyError:
        log.exception("the page is odd")
    log.info("not shown")
    logging.getLogger("apache_beam.x").warning("not shown")
    logging.getLogger().warning("apitools not found, and so on")
    assert capsys.readouterr() == ("", "newsbeam: error: the page is odd\n")


@pytest.mark.parametrize(
    ("verbosity", "shown"), [(-1, ["error"]), (0, ["warning", "error"]), (1, ["info", "warning", "error"])]
)
def test_how_much_is_said(verbosity, shown, capsys):
    output.set_up_logging(verbosity)
    for level in ("debug", "info", "warning", "error"):
        getattr(logging.getLogger("newsbeam.test"), level)("x")
    assert [line.split(": ")[1] for line in capsys.readouterr().err.splitlines()] == shown


def test_tracebacks_are_shown_when_asked_for(capsys):
    output.set_up_logging(0, shows_tracebacks=True)
    try:
        raise KeyError("x")
    except KeyError:
        logging.getLogger("newsbeam.test").exception("the page is odd")
    assert "Traceback" in capsys.readouterr().err


def test_paths_below_the_working_directory_are_shown_short(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert output.shown_path(str(tmp_path / "out")) == "out"
    assert output.shown_path("/elsewhere/out") == "/elsewhere/out"


def test_the_command_is_named_so_that_it_can_be_called_again(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [str(tmp_path / ".venv" / "bin" / "newsbeam"), "run"])
    assert output.command_name() == ".venv/bin/newsbeam"
    monkeypatch.setattr("sys.argv", ["/srv/pipeline/__main__.py", "run"])
    assert output.command_name() == "newsbeam"
    (tmp_path / "newsbeam").write_text("")
    (tmp_path / "newsbeam").chmod(0o755)
    monkeypatch.setattr("sys.argv", [str(tmp_path / ".venv" / "bin" / "newsbeam"), "run"])
    assert output.command_name() == "newsbeam"


@pytest.mark.parametrize(
    ("count", "word", "shown"),
    [(1, "feed", "1 feed"), (0, "feed", "0 feeds"), (2, "fetch", "2 fetches"), (1200, "entry", "1,200 entries")],
)
def test_numbers_and_their_words(count, word, shown):
    assert output.plural(count, word) == shown
