"""What the README shows is what the code is."""

import re
from pathlib import Path

from tuling_fsm.behaviour import table
from tuling_fsm.machine.mermaid import mermaid

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_diagram_is_that_of_the_tables() -> None:
    shown = re.search(r"<!-- diagram -->\n```mermaid\n(.*?)```\n<!-- /diagram -->", README, re.DOTALL)
    assert shown is not None
    assert shown.group(1) == mermaid(table()), "renew it with `tuling-fsm diagram`"


def test_every_file_that_it_links_is_there() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_launch_argument_that_it_names_is_one() -> None:
    for file, arguments in re.findall(r"ros2 launch tuling_fsm (\S+)(.*)", README):
        text = (ROOT / "launch" / file).read_text(encoding="utf-8")
        for name in re.findall(r"(\w+):=", arguments):
            assert f'"{name}"' in text, name
