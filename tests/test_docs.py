"""The pages that tell of the code agree with it."""

from __future__ import annotations

import re

from tests.program import ROOT

ARCHITECTURE = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
GRAPH = (ROOT / "pipeline/graph.py").read_text(encoding="utf-8")


def test_the_numbered_stages_are_those_of_the_graph_in_the_same_order():
    told = re.findall(r"^\d+\. \*\*(.+?)\*\*", ARCHITECTURE, re.MULTILINE)
    assert [int(number) for number in re.findall(r"^(\d+)\. \*\*", ARCHITECTURE, re.MULTILINE)] == list(
        range(1, len(told) + 1)
    )
    labels = re.findall(r'"([A-Z][a-z ]+)" >> [A-Z]\w+\(', GRAPH[GRAPH.index("def build") :])
    assert [label for label in labels if label in told] == told


def test_every_link_of_the_docs_leads_to_a_file():
    for page in [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page}: {target}"


def test_no_module_of_the_product_is_longer_than_400_lines():
    for path in [*ROOT.glob("pipeline/**/*.py"), *ROOT.glob("transforms/**/*.py")]:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= 400, path
