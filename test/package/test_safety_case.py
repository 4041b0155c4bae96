"""docs/safety_case.md names what there is: clauses, tests, and every node of its diagram."""

from __future__ import annotations

import re
from pathlib import Path

from architecture.contract import CONTRACT

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "safety_case.md").read_text(encoding="utf-8")
DIAGRAM = PAGE.partition("```mermaid")[2].partition("```")[0]
NODE = re.compile(r"\b([GSCE]\d)[\[({]+[/\"]+\1: ")


def test_every_clause_that_it_names_is_one() -> None:
    named = set(re.findall(r"\b[A-Z]{3,5}-\d+\b", PAGE)) - {"SCSC-141"}
    assert len(named) > 10
    assert named <= set(CONTRACT)


def test_every_piece_of_evidence_is_there() -> None:
    links = re.findall(r"\]\((\.\./test/[\w/]+\.py)\)", PAGE)
    assert len(links) > 12
    for link in links:
        assert (ROOT / "docs" / link).resolve().is_file(), link


def test_every_goal_of_the_diagram_is_argued_for_or_said_to_be_open() -> None:
    nodes = set(NODE.findall(DIAGRAM))
    assert {node[0] for node in nodes} == set("GSCE")
    goals = {node for node in nodes if node[0] == "G"} - {"G1"}
    argued = set(re.findall(r"^### (G\d): ", PAGE, re.MULTILINE))
    opened = set(re.findall(r"\*\*(G\d) is not developed", PAGE))
    assert goals == argued | opened
    assert not argued & opened
    evidence = {node for node in nodes if node[0] == "E"}
    assert evidence == set(re.findall(r"^\*\*(E\d)\*\*", PAGE, re.MULTILINE))
    for goal in argued:
        assert re.search(rf"{goal} --> E\d", DIAGRAM), goal


def test_it_can_be_read_in_one_go() -> None:
    assert len(PAGE.splitlines()) <= 200
    assert PAGE.count("\n- **") >= 8, "open doubts"
