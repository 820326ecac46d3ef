"""``newsbeam explain`` with an address: asked as a run would ask it."""

from __future__ import annotations

import pytest

from pipeline.cli import main
from tests.servers import NewsServer

PAGE = "<html><head><title>Ferry sails again</title></head><body><p>" + "The ferry to Brenn sails again. " * 9 + "</p>"


@pytest.mark.parametrize(("path", "asked"), [("/secret/a", False), ("/open/a", True)])
def test_robots_txt_is_obeyed(path, asked, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with NewsServer({"/robots.txt": "User-agent: *\nDisallow: /secret", "*": PAGE}) as server:
        main(["explain", server.url(path), "--allow-loopback"])
    assert server.paths() == ["/robots.txt", *([path] if asked else [])]
    assert ("robots" in capsys.readouterr().out) is not asked
