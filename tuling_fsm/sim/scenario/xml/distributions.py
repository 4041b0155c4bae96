"""Distributions of parameters in OpenSCENARIO XML ([openscenario][], 1.1 to 1.3): one scenario with many values.

Deterministic distributions are combined, every value of each with every value of the others, the last one fastest.
Stochastic ones are drawn as often as the file asks for, each from a stream of its own; a file without a seed has 0.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementary
from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.scenario.xml.elements import XmlDocument, XmlElement
from tuling_fsm.sim.scenario.xml.files import look_up
from tuling_fsm.sim.scenario.xml.script import declared
from tuling_fsm.sim.scenario.xml.unread import unread_names
from tuling_fsm.sim.seeds import Stream, generator, normal

Values = Mapping[str, str]
"""Of parameters by their names, as text."""
Draw = Callable[[np.random.Generator], str]

MOST = 100_000
"""Variations of a file, and steps of a range: more would take months to drive."""
MOST_EXPECTED = 100.0
"""Expected value of a Poisson distribution, which is counted up to."""
TRIES = 1_000
"""Draws until one is in its range."""
DIGITS = ".12g"
"""Of a value that is computed: steps of 0.1 are 0.3, and not 0.30000000000000004."""


class ParameterVariations(NamedTuple):
    """A scenario file, and the values of its parameters for each variation by its number from 1 on; `left_out` are
    variations whose values the constraints of the parameters do not allow, and why the first of them are not; `notes`
    say what of the file is not read.
    """

    scenario: Path
    values: Mapping[int, Values]
    left_out: tuple[int, str]
    notes: tuple[str, ...] = ()


def read_variations(file: Path) -> ParameterVariations | None:
    """The variations of a file; None where it is no distribution of parameters.

    Raises:
        InputError: it cannot be read, or what is not understood (`file:line:column`); no variation is allowed.
    """
    root = XmlDocument(file).root
    if root.tag != "OpenSCENARIO" or root.find("ParameterValueDistribution") is None:
        return None
    distribution = root.child("ParameterValueDistribution")
    named = distribution.child("ScenarioFile").text("filepath")
    scenario = look_up(file, named, "")
    if scenario is None:
        raise distribution.child("ScenarioFile").fault(f"there is no file {named!r}", "a scenario in XML", "filepath")
    stochastic = distribution.find("Stochastic")
    found = _combined(distribution.child("Deterministic")) if stochastic is None else _drawn(stochastic)
    return _allowed(scenario, found)._replace(notes=tuple(unread_names([root])))


def _allowed(scenario: Path, found: Sequence[Values]) -> ParameterVariations:
    """What the scenario's parameters may have."""
    root = XmlDocument(scenario).root
    allowed, refused = dict[int, Values](), list[InputError]()
    for number, values in enumerate(found, start=1):
        try:
            declared(root, values)
        except InputError as error:
            refused.append(error)
        else:
            allowed[number] = values
    if not allowed:
        raise refused[0]
    return ParameterVariations(scenario, allowed, (len(refused), str(refused[0]) if refused else ""))


# Deterministic.


def _combined(element: XmlElement) -> list[Values]:
    factors = [_factor(each) for each in element]
    count = math.prod(map(len, factors))
    if not 1 <= count <= MOST:
        raise element.fault(f"{count} variations", f"1 to {MOST}")
    _once(element, [{name for values in factor for name in values} for factor in factors])
    return [dict(itertools.chain(*(values.items() for values in each))) for each in itertools.product(*factors)]


def _factor(element: XmlElement) -> list[Values]:
    kind = element.only()
    if element.tag == "DeterministicMultiParameterDistribution" and kind.tag == "ValueSetDistribution":
        return [
            {each.reference("parameterRef"): each.text("value") for each in values.all("ParameterAssignment")}
            for values in kind.all("ParameterValueSet")
        ]
    if element.tag == "DeterministicSingleParameterDistribution" and kind.tag in (
        "DistributionSet",
        "DistributionRange",
    ):
        name = element.reference("parameterName")
        texts = [each.text("value") for each in kind.all("Element")] if kind.tag == "DistributionSet" else _steps(kind)
        return [{name: text} for text in texts]
    raise kind.fault(
        "this distribution is not understood", "ValueSetDistribution, DistributionSet or DistributionRange"
    )


def _steps(element: XmlElement) -> list[str]:
    low, high = _range(element.child("Range"))
    step = element.number("stepWidth")
    if step <= 0.0 or high - low > MOST * step:
        raise element.fault(f"stepWidth is {step:g}", f"more than 0, and no more than {MOST} steps", "stepWidth")
    count = math.floor((high - low) / step + 1e-9) + 1
    return [format(low + k * step, DIGITS) for k in range(count)]


def _range(element: XmlElement) -> tuple[float, float]:
    low, high = element.number("lowerLimit"), element.number("upperLimit")
    if not (math.isfinite(low) and math.isfinite(high) and low <= high):
        raise element.fault(f"from {low:g} to {high:g}", "finite limits, the lower one first")
    return low, high


def _once(element: XmlElement, named: Sequence[set[str]]) -> None:
    """No parameter may be in two distributions."""
    for one, other in itertools.combinations(named, 2):
        if one & other:
            raise element.fault(f"{min(one & other)!r} is in two distributions", "each parameter in one")


# Stochastic.


def _drawn(element: XmlElement) -> list[Values]:
    count = element.whole("numberOfTestRuns")
    if not 1 <= count <= MOST:
        raise element.fault(f"numberOfTestRuns is {count}", f"1 to {MOST}", "numberOfTestRuns")
    distributions = element.all("StochasticDistribution")
    names = [each.reference("parameterName") for each in distributions]
    _once(element, [{name} for name in names])
    streams = _seeded(element).spawn(len(names))
    columns = []
    for each, stream in zip(distributions, streams, strict=True):
        kind, random = each.only(), generator(stream)
        if kind.tag not in _KINDS:
            raise kind.fault("this distribution is not understood", "one of " + ", ".join(_KINDS))
        draw = _KINDS[kind.tag](kind)
        columns.append([draw(random) for _ in range(count)])
    return [dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)] if columns else [{}] * count


def _seeded(element: XmlElement) -> Stream:
    """By the seed of a file, which need not be a whole number."""
    seed = element.number("randomSeed", 0.0)
    if not math.isfinite(seed):
        raise element.fault(f"randomSeed is {seed:g}", "a finite number", "randomSeed")
    numerator, denominator = abs(seed).as_integer_ratio()
    return Stream(numerator if denominator == 1 else (numerator, denominator))


def _weighted(elements: Sequence[XmlElement], parent: XmlElement) -> Callable[[np.random.Generator], int]:
    """Draws the number of one of the elements by their weights."""
    if not elements:
        raise parent.fault("is empty", "an element with a weight in it")
    total = np.cumsum([each.number("weight") for each in elements])
    if total[-1] <= 0.0:
        raise parent.fault("has no weight", "one above 0")
    return lambda random: min(int(np.searchsorted(total, random.random() * total[-1], "right")), len(total) - 1)


def _of_set(element: XmlElement) -> Draw:
    elements = element.all("Element")
    texts, which = [each.text("value") for each in elements], _weighted(elements, element)
    return lambda random: texts[which(random)]


def _between(random: np.random.Generator, low: float, high: float) -> str:
    return format(low + (high - low) * random.random(), DIGITS)


def _uniform(element: XmlElement) -> Draw:
    low, high = _range(element.child("Range"))
    return lambda random: _between(random, low, high)


def _histogram(element: XmlElement) -> Draw:
    bins = element.all("Bin")
    ranges, which = [_range(each.child("Range")) for each in bins], _weighted(bins, element)
    return lambda random: _between(random, *ranges[which(random)])


def _within(element: XmlElement, value: Callable[[np.random.Generator], float]) -> Draw:
    """Draws until a value is in the range, where there is one."""
    limits = element.find("Range")
    low, high = (-math.inf, math.inf) if limits is None else _range(limits)

    def draw(random: np.random.Generator) -> str:
        for _ in range(TRIES):
            found = value(random)
            if low <= found <= high:
                return format(found, DIGITS)
        raise element.fault("hardly any value is in the range", "one around the expected value")

    return draw


def _moments(element: XmlElement) -> tuple[float, float]:
    mean, variance = element.number("expectedValue"), element.number("variance")
    if not (math.isfinite(mean) and 0.0 <= variance < math.inf):
        raise element.fault(f"variance is {variance:g}", "0 or more", "variance")
    return mean, variance


def _normal(element: XmlElement) -> Draw:
    mean, variance = _moments(element)
    return _within(element, lambda random: mean + float(normal(random, math.sqrt(variance), 1)[0]))


def _log_normal(element: XmlElement) -> Draw:
    """Of these moments; the logarithm is normally distributed."""
    mean, variance = _moments(element)
    if mean <= 0.0:
        raise element.fault(f"expectedValue is {mean:g}", "more than 0", "expectedValue")
    spread = elementary.log(1.0 + variance / mean / mean)
    middle = elementary.log(mean) - 0.5 * spread
    return _within(element, lambda random: elementary.exp(middle + float(normal(random, math.sqrt(spread), 1)[0])))


def _poisson(element: XmlElement) -> Draw:
    """How many events come in a time in which so many are expected: the waits between them are exponential."""
    expected = element.number("expectedValue")
    if not 0.0 < expected <= MOST_EXPECTED:
        raise element.fault(
            f"expectedValue is {expected:g}", f"more than 0, and no more than {MOST_EXPECTED:g}", "expectedValue"
        )

    def count(random: np.random.Generator) -> float:
        events, left = 0, expected + elementary.log(1.0 - random.random())
        while left > 0.0:
            events, left = events + 1, left + elementary.log(1.0 - random.random())
        return float(events)

    return _within(element, count)


_KINDS: Mapping[str, Callable[[XmlElement], Draw]] = {
    "ProbabilityDistributionSet": _of_set,
    "NormalDistribution": _normal,
    "LogNormalDistribution": _log_normal,
    "UniformDistribution": _uniform,
    "PoissonDistribution": _poisson,
    "Histogram": _histogram,
}
