"""Distributions of parameters: which values a scenario is driven with."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.xml.distributions import read_variations

pytestmark = pytest.mark.clause("OSC-1")

RANGE = '<Range lowerLimit="{}" upperLimit="{}"/>'
RUNS = 2000
DECLARED = (
    '<ParameterDeclarations><ParameterDeclaration name="gap" parameterType="double" value="5"><ConstraintGroup>'
    '<ValueConstraint rule="lessThan" value="20"/></ConstraintGroup></ParameterDeclaration></ParameterDeclarations>'
)


def written(folder: Path, content: str) -> Path:
    """A distribution for a scenario beside it."""
    (folder / "s.xosc").write_text(f"<OpenSCENARIO>{DECLARED}</OpenSCENARIO>", encoding="utf-8")
    file = folder / "sets.xosc"
    file.write_text(
        '<OpenSCENARIO><FileHeader revMajor="1" revMinor="2"/><ParameterValueDistribution>'
        f'<ScenarioFile filepath="s.xosc"/>{content}</ParameterValueDistribution></OpenSCENARIO>',
        encoding="utf-8",
    )
    return file


def values(folder: Path, content: str) -> list[dict[str, str]]:
    found = read_variations(written(folder, content))
    assert found is not None
    assert found.scenario == folder / "s.xosc"
    assert found.left_out == (0, "")
    return [dict(each) for each in found.values.values()]


def single(name: str, kind: str) -> str:
    tag = "DeterministicSingleParameterDistribution"
    return f'<{tag} parameterName="{name}">{kind}</{tag}>'


def of_set(*texts: str) -> str:
    elements = "".join(f'<Element value="{text}"/>' for text in texts)
    return f"<DistributionSet>{elements}</DistributionSet>"


def steps(low: float, high: float, step: float) -> str:
    return f'<DistributionRange stepWidth="{step}">{RANGE.format(low, high)}</DistributionRange>'


def drawn(folder: Path, kind: str, runs: int = RUNS, seed: str = ' randomSeed="3"') -> list[str]:
    content = f'<StochasticDistribution parameterName="v">{kind}</StochasticDistribution>'
    found = values(folder, f'<Stochastic numberOfTestRuns="{runs}"{seed}>{content}</Stochastic>')
    return [each["v"] for each in found]


def test_every_value_is_combined_with_every_other(tmp_path: Path) -> None:
    sets = (
        "<DeterministicMultiParameterDistribution><ValueSetDistribution>"
        '<ParameterValueSet><ParameterAssignment parameterRef="car" value="van"/>'
        '<ParameterAssignment parameterRef="colour" value="red"/></ParameterValueSet>'
        '<ParameterValueSet><ParameterAssignment parameterRef="$car" value="bus"/></ParameterValueSet>'
        "</ValueSetDistribution></DeterministicMultiParameterDistribution>"
    )
    content = (
        f"<Deterministic>{sets}{single('v', of_set('5', '9'))}{single('gap', steps(1.1, 1.5, 0.2))}</Deterministic>"
    )
    found = values(tmp_path, content)
    assert len(found) == 2 * 2 * 3
    assert found[0] == {"car": "van", "colour": "red", "v": "5", "gap": "1.1"}
    assert [each["gap"] for each in found[:3]] == ["1.1", "1.3", "1.5"]
    assert found[-1] == {"car": "bus", "v": "9", "gap": "1.5"}


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (f"<UniformDistribution>{RANGE.format(2, 6)}</UniformDistribution>", stats.uniform(2.0, 4.0)),
        ('<NormalDistribution expectedValue="20" variance="9"/>', stats.norm(20.0, 3.0)),
        (
            f'<NormalDistribution expectedValue="20" variance="9">{RANGE.format(17, 29)}</NormalDistribution>',
            stats.truncnorm(-1.0, 3.0, 20.0, 3.0),
        ),
        (
            '<LogNormalDistribution expectedValue="2" variance="3"/>',
            stats.lognorm(np.sqrt(np.log(1.75)), scale=2.0 / np.sqrt(1.75)),
        ),
    ],
    ids=["uniform", "normal", "normal in a range", "log-normal"],
)
def test_values_are_distributed_as_the_text_says(tmp_path: Path, kind: str, expected: stats.rv_continuous) -> None:
    found = [float(text) for text in drawn(tmp_path, kind)]
    assert stats.kstest(found, expected.cdf).pvalue > 0.01


def test_counts_and_weights_are_distributed_as_the_text_says(tmp_path: Path) -> None:
    counts = [float(text) for text in drawn(tmp_path, '<PoissonDistribution expectedValue="4"/>')]
    assert (np.mean(counts), np.var(counts)) == pytest.approx((4.0, 4.0), rel=0.1)
    assert all(count == int(count) >= 0 for count in counts)
    of_three = "".join(
        f'<Element value="{value}" weight="{weight}"/>' for value, weight in (("a", 1), ("b", 0), ("c", 3))
    )
    words = Counter(drawn(tmp_path, f"<ProbabilityDistributionSet>{of_three}</ProbabilityDistributionSet>"))
    assert words.keys() == {"a", "c"}
    assert words["c"] / RUNS == pytest.approx(0.75, abs=0.04)
    bins = f'<Bin weight="1">{RANGE.format(0, 1)}</Bin><Bin weight="4">{RANGE.format(5, 7)}</Bin>'
    high = [5.0 <= float(text) <= 7.0 for text in drawn(tmp_path, f"<Histogram>{bins}</Histogram>")]
    assert np.mean(high) == pytest.approx(0.8, abs=0.04)


def test_a_draw_repeats_by_its_seed_and_a_parameter_more_changes_no_other(tmp_path: Path) -> None:
    kind = '<NormalDistribution expectedValue="20" variance="9"/>'
    one = drawn(tmp_path, kind, 5)
    assert one == drawn(tmp_path, kind, 5) == drawn(tmp_path, kind, 9)[:5]
    assert one != drawn(tmp_path, kind, 5, "")
    fraction = drawn(tmp_path, kind, 5, ' randomSeed="3.5"')
    assert fraction == drawn(tmp_path, kind, 5, ' randomSeed="3.5"') != one
    two = "".join(f'<StochasticDistribution parameterName="{name}">{kind}</StochasticDistribution>' for name in "vw")
    found = values(tmp_path, f'<Stochastic numberOfTestRuns="5" randomSeed="3">{two}</Stochastic>')
    assert [each["v"] for each in found] == one != [each["w"] for each in found]


def test_what_the_constraints_of_a_parameter_do_not_allow_is_left_out(tmp_path: Path) -> None:
    found = read_variations(
        written(tmp_path, f"<Deterministic>{single('gap', of_set('25', '6', '40', '8'))}</Deterministic>")
    )
    assert found is not None
    assert found.values == {2: {"gap": "6"}, 4: {"gap": "8"}}
    assert found.left_out[0] == 2
    assert "gap is '25'" in found.left_out[1]
    with pytest.raises(InputError, match="gap is '25'"):
        read_variations(written(tmp_path, f"<Deterministic>{single('gap', of_set('25'))}</Deterministic>"))


def test_a_misspelled_name_is_refused_and_what_is_not_read_is_said(tmp_path: Path) -> None:
    content = f"<Deterministic>{single('v', of_set('5'))}</Deterministic>"
    found = read_variations(written(tmp_path, content.replace("<Element", "<Other/><Element")))
    assert found is not None
    assert [note.partition("<")[2] for note in found.notes] == ["Other>: is not read in <DistributionSet>"]
    normal = f'<NormalDistribution expectedValue="20" variance="9">{RANGE.format(17, 29)}</NormalDistribution>'
    with pytest.raises(InputError, match=r"\.xosc:\d+:\d+: <Rangs>: there is no 'Rangs' \(expected 'Range'\)"):
        drawn(tmp_path, normal.replace("<Range", "<Rangs"))


def test_a_scenario_is_no_distribution(tmp_path: Path) -> None:
    written(tmp_path, "")
    assert read_variations(tmp_path / "s.xosc") is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "<ParameterValueDistribution>: has no <Deterministic>"),
        (f"<Deterministic>{single('v', of_set())}</Deterministic>", "<Deterministic>: 0 variations"),
        (f"<Deterministic>{single('v', steps(0, 1, 0))}</Deterministic>", "<DistributionRange>: stepWidth is 0"),
        (f"<Deterministic>{single('v', steps(0, 1e9, 1))}</Deterministic>", "<DistributionRange>: stepWidth is 1"),
        (f"<Deterministic>{single('v', steps(3, 1, 1))}</Deterministic>", "<Range>: from 3 to 1"),
        (f"<Deterministic>{2 * single('v', of_set('1'))}</Deterministic>", "<Deterministic>: 'v' is in two"),
        (
            f"<Deterministic>{single('v', '<UserDefinedDistribution/>')}</Deterministic>",
            "<UserDefinedDistribution>: this distribution is not understood (expected ValueSetDistribution,",
        ),
        (
            f"<Deterministic>{''.join(single(name, steps(1, 1000, 1)) for name in 'ab')}</Deterministic>",
            "<Deterministic>: 1000000 variations (expected 1 to 100000)",
        ),
        ('<Stochastic numberOfTestRuns="0"/>', "<Stochastic>: numberOfTestRuns is 0"),
        *(
            (f'<Stochastic numberOfTestRuns="2"><StochasticDistribution parameterName="v">{kind}'
             "</StochasticDistribution></Stochastic>", words)
            for kind, words in (
                ("<Cauchy/>", "<Cauchy>: this distribution is not understood (expected one of ProbabilityDistribution"),
                ("<Histogram/>", "<Histogram>: is empty"),
                (f'<Histogram><Bin weight="0">{RANGE.format(0, 1)}</Bin></Histogram>', "<Histogram>: has no weight"),
                ('<NormalDistribution expectedValue="1" variance="-1"/>', "variance is -1 (expected 0 or more)"),
                ('<LogNormalDistribution expectedValue="-1" variance="1"/>', "expectedValue is -1"),
                ('<PoissonDistribution expectedValue="1e9"/>', "expectedValue is 1e+09"),
                (
                    f'<NormalDistribution expectedValue="0" variance="1">{RANGE.format(90, 91)}</NormalDistribution>',
                    "<NormalDistribution>: hardly any value is in the range",
                ),
            )
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_told_where_it_stands(tmp_path: Path, content: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        read_variations(written(tmp_path, content))
    assert words in str(caught.value)
    assert "sets.xosc:1:" in str(caught.value)


def test_a_scenario_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    file = written(tmp_path, "<Deterministic/>")
    file.write_text(file.read_text(encoding="utf-8").replace('"s.xosc"', '"t.xosc"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"<ScenarioFile>: there is no file 't.xosc'"):
        read_variations(file)
