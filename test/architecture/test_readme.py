"""What the READMEs show is what the code is."""

import re

import pytest

from .marked import MARKED, ROOT, written

README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("page", MARKED)
def test_what_stands_between_marks_is_what_the_code_says(page: str) -> None:
    assert (ROOT / page).read_text(encoding="utf-8") == written(page), "make clauses"


def test_every_file_that_it_links_is_there() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_launch_argument_that_it_names_is_one() -> None:
    for file, arguments in re.findall(r"ros2 launch tuling_fsm (\S+)(.*)", README):
        text = (ROOT / "launch" / file).read_text(encoding="utf-8")
        for name in re.findall(r"(\w+):=", arguments):
            assert f'"{name}"' in text, name
