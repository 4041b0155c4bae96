"""Whatever is in the file, the answer is a scenario or one clear line."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.compiler import compile_text

ROOT = Path(__file__).resolve().parents[3]
FILE = str(ROOT / "config" / "scenarios" / "demo.osc")
DEMO = Path(FILE).read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```osc\n(.*?)```", (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8"), re.DOTALL)
TEXTS = [DEMO, *EXAMPLES]
TOKENS = sorted({token for text in TEXTS for token in re.findall(r"\w+|[^\w\s]|\n +", text)} | {"\t", "'", "in", "not"})


def answer(text: str) -> str:
    """What the compiler says; empty when the text is right."""
    try:
        compile_text(text, FILE)
    except InputError as error:
        return str(error)
    return ""


@st.composite
def damaged(draw: st.DrawFn) -> str:
    """One of the texts with some tokens put out, put in or put twice."""
    parts = re.split(r"(\w+|[^\w\s]|\n +)", draw(st.sampled_from(TEXTS)))
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(parts) - 1))
        parts[place] = draw(st.sampled_from(["", parts[place] * 2, parts[place - 1], draw(st.sampled_from(TOKENS))]))
    return "".join(parts)


@given(damaged())
@example("\ufeff" + DEMO)
@example(DEMO.replace("\n", "\r\n"))
@example("scenario a:\n    x: list of list of int = 3\n")
@pytest.mark.medium
def test_damaged_text_has_a_place_or_still_makes_sense(text: str) -> None:
    said = answer(text)
    assert said == "" or re.match(rf"{re.escape(FILE)}:\d+:\d+: ", said), said


@given(st.text(max_size=80))
def test_any_text_has_an_answer(text: str) -> None:
    assert re.match(rf"{re.escape(FILE)}:\d+:\d+: ", answer(text))
