"""Traffic lights: phases of a crossing follow one another, each crossing for itself."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tuling_fsm.core.arrays import Int32Array
from tuling_fsm.core.errors import assert_never
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.parameters import LightParameters
from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.commands import LightsCommand
from tuling_fsm.sim.seeds import generator
from tuling_fsm.world.inputs import TRAFFIC_LIGHTS, Light


class _Turn(NamedTuple):
    """When a signal, by its row, is green: cycle, beginning and length, s."""

    row: int
    cycle: float
    start: float
    green: float


class TrafficLights:
    """All dynamic signals of a map, which itself says which lights of a crossing are green together."""

    def __init__(self, road_map: RoadMap, seed: np.random.SeedSequence, parameters: LightParameters) -> None:
        signals = [signal for signal in road_map.signals.values() if signal.dynamic]
        self.numbers = tuple(signal.number for signal in signals)
        self._row = {number: i for i, number in enumerate(self.numbers)}
        count = len(signals)
        self._table = np.zeros(count, TRAFFIC_LIGHTS)
        self._table["signal"], self._table["confidence"] = self.numbers, 1.0
        self._yellow = parameters.yellow
        self._since = 0.0
        """When the programs began."""
        self._forced: dict[int, Light] = {}
        self._unseen: set[int] = set()
        self.silent = False
        """Whether nothing is heard of them."""
        self._latest: tuple[float, Int32Array] | None = None
        random = generator(seed)
        programs = _programs(road_map, self.numbers)
        turns = [turn for phases in programs for turn in self._turns(phases, random, parameters)]
        self._turn_row = np.array([turn.row for turn in turns], dtype=np.int64)
        self._cycle, self._start, self._green = np.array([turn[1:] for turn in turns]).reshape(-1, 3).T.copy()

    def _turns(
        self, phases: Sequence[Sequence[int]], random: np.random.Generator, p: LightParameters
    ) -> Iterator[_Turn]:
        """Line up the phases of one crossing in a cycle with a random beginning; a light stays green into the next
        phase where that has it too.
        """
        greens = random.uniform(p.green_min, p.green_max, len(phases))
        clearance = p.yellow + p.all_red
        cycle = float(greens.sum() + clearance * len(phases))
        start = float(random.uniform(0.0, cycle))
        if len(phases) == 1:
            cycle += float(greens[0])
        for green, numbers, following in zip(greens.tolist(), phases, (*phases[1:], phases[0]), strict=True):
            for number in numbers:
                stays = len(phases) > 1 and number in following
                yield _Turn(self._row[number], cycle, start, green + clearance if stays else green)
            start += green + clearance

    def apply(self, command: LightsCommand) -> None:
        """Carry out a command."""
        match command:
            case commands.SetLight(signal, state):
                self.force(signal, state)
            case commands.SetAllLights(state, but):
                for number in [number for number in self.numbers if number not in but]:
                    self.force(number, state)
            case commands.SilenceLights(silent):
                self.silent = silent
            case _:
                assert_never(command)

    def force(self, number: int, state: Light | None) -> None:
        """Force a signal to a state; None gives it back to its program. An unknown one goes on unseen by the car."""
        self._latest = None
        self._unseen.discard(number)
        self._forced.pop(number, None)
        if state is Light.UNKNOWN:
            self._unseen.add(number)
        elif state is not None and number in self._row:
            self._forced[number] = state

    def reset(self, stamp: float) -> None:
        """Begin all programs anew at a stamp (s), as at the start of the run; what was forced is given back to them."""
        self._start += stamp - self._since
        self._since, self._latest = stamp, None
        self._forced.clear()
        self._unseen.clear()

    def states(self, stamp: float) -> Int32Array:
        """The state of every signal at a stamp (s), in the order of `numbers`."""
        if self._latest is None or self._latest[0] != stamp:
            phase = np.mod(stamp - self._start, self._cycle)
            late = np.where(phase < self._green + self._yellow, np.int32(Light.YELLOW), np.int32(Light.RED))
            turns = np.where(phase < self._green, np.int32(Light.GREEN), late)
            states = np.full(len(self.numbers), np.int32(Light.RED))
            # Of a light with several turns the one nearest to green counts: red, yellow and green are 1, 2 and 3.
            np.maximum.at(states, self._turn_row, turns)
            for number, forced in self._forced.items():
                states[self._row[number]] = forced
            self._latest = stamp, states
        return self._latest[1]

    def state(self, number: int, stamp: float) -> Light:
        """The state of one signal at a stamp (s); unknown where there is no such light."""
        return Light(int(self.states(stamp)[self._row[number]])) if number in self._row else Light.UNKNOWN

    def table(self, stamp: float) -> npt.NDArray[np.void]:
        """All states at a stamp (s) as the car sees them: rows of the topic `traffic_lights`."""
        rows = self._table.copy()
        rows["state"] = self.states(stamp)
        if self._unseen:
            unseen = [number in self._unseen for number in self.numbers]
            rows["state"][unseen], rows["confidence"][unseen] = Light.UNKNOWN, 0.0
        return rows


def _programs(road_map: RoadMap, numbers: Sequence[int]) -> list[list[tuple[int, ...]]]:
    """The phases (signal numbers) of every junction, and of every light that stands alone."""
    known = set(numbers)
    programs = [
        [phase for group in phases if (phase := tuple(number for number in group if number in known))]
        for phases in road_map.phases.values()
    ]
    ruled = {number for program in programs for phase in program for number in phase}
    alone: list[list[tuple[int, ...]]] = [[(number,)] for number in numbers if number not in ruled]
    return [program for program in programs if program] + alone
