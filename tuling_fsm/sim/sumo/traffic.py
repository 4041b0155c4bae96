"""Traffic that SUMO drives, as the simulation steps it: network, population, lights, the ego and the judges."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.map.route import Route
from tuling_fsm.sim.actors.bodies import ActorBoxes
from tuling_fsm.sim.actors.foreign import ForeignStart, circles_to_clear
from tuling_fsm.sim.scenario.commands import CloseRoad
from tuling_fsm.sim.scenario.model import Action, ActorState, Scenario, nodes
from tuling_fsm.sim.seeds import generator
from tuling_fsm.sim.sumo.drivers import kind_of, write_types
from tuling_fsm.sim.sumo.edge_graph import EdgeGraph
from tuling_fsm.sim.sumo.ego import SumoEgo
from tuling_fsm.sim.sumo.engine import SumoEngine, SumoVehicle
from tuling_fsm.sim.sumo.installed import VERSION, require_sumo
from tuling_fsm.sim.sumo.judges import Judges
from tuling_fsm.sim.sumo.lights import LinkLights
from tuling_fsm.sim.sumo.matching import match_lanes
from tuling_fsm.sim.sumo.netconvert import convert
from tuling_fsm.sim.sumo.parameters import SumoParameters
from tuling_fsm.sim.sumo.population import SumoPopulation

_LARGEST_SEED = 2**31 - 1


class SumoTraffic:
    """Everybody but the ego, on one map. It is a context: leaving it ends SUMO and removes its files.

    Args:
        map_file: OpenDRIVE.
        road_map: the same, read.

    Raises:
        InputError: SUMO is not installed, or cannot read the map.
    """

    def __init__(self, map_file: Path, road_map: RoadMap) -> None:
        require_sumo()
        self._folder = tempfile.TemporaryDirectory(prefix="sumo-")
        self.parameters = SumoParameters()
        self.network = convert(map_file, road_map, self.folder)
        self.match = match_lanes(self.network, road_map)
        self.graph = EdgeGraph(self.network, self.match)
        self.lights = LinkLights(self.network, self.match, road_map)
        self._run: SumoRun | None = None

    def __enter__(self) -> SumoTraffic:
        return self

    def __exit__(self, *_: object) -> None:
        if self._run is not None:
            self._run.engine.close()
        self._folder.cleanup()

    @property
    def folder(self) -> Path:
        """Where SUMO's files are."""
        return Path(self._folder.name)

    @property
    def run(self) -> SumoRun:
        """The run under way.

        Raises:
            RuntimeError: none has begun.
        """
        if self._run is None:
            raise RuntimeError("no run has begun")
        return self._run

    def begin(self, start: ForeignStart, lights: Mapping[int, int]) -> None:
        """Put everybody on the road; what was there before is gone."""
        self._run = SumoRun(self, start)
        self._run.step(start.stamp, start.ego, start.route, lights)

    def step(self, stamp: float, ego: ActorState, route: Route | None, lights: Mapping[int, int]) -> None:
        """Go on by a frame."""
        self.run.step(stamp, ego, route, lights)

    def boxes(self) -> ActorBoxes:
        """All vehicles as they are now, without the ego."""
        return self.run.boxes()

    def verdict(self) -> Mapping[str, Any]:
        """The vehicles that drove, and what SUMO and the footprints say of the ego."""
        return {"source": "sumo", "version": VERSION, "lights_unmatched": list(self.lights.unmatched)} | dict(
            self.run.verdict()
        )


class SumoRun:
    """SUMO from a run's first frame on; its first step lets vehicles appear."""

    def __init__(self, traffic: SumoTraffic, start: ForeignStart) -> None:
        random, p = generator(start.stream), traffic.parameters
        types = traffic.folder / "types.add.xml"
        write_types(types, p, start.ego.length, start.ego.width)
        seed = int(random.integers(_LARGEST_SEED))
        self.engine = SumoEngine(traffic.network.file, types, start.dt, start.stamp, seed, p.lane_change_time)
        self.engine.close_lanes(traffic.match.closed)
        self._lights = traffic.lights
        self.population = SumoPopulation(traffic.graph, self.engine, random, start.population, p, start.parameters)
        self._ego = SumoEgo(self.engine, traffic.graph, traffic.match)
        self._judges = Judges()
        self._shown: dict[str, str] = {}
        self._stamp, self._dt = start.stamp, start.dt
        self._steps, self._period = 0, max(round(p.population_period / start.dt), 1)
        self.vehicles: list[SumoVehicle] = []
        self.population.fill(circles_to_clear(start.ego.pose, start.route, start.parameters))

    def step(self, stamp: float, ego: ActorState, route: Route | None, lights: Mapping[int, int]) -> None:
        """Go on by a frame, to the time `stamp` (s) at which the ego is where it is said to be."""
        self._stamp = stamp
        self._show(lights)
        self._ego.place(ego, route)
        self.engine.step()
        self.population.settle()
        self.vehicles = self.engine.vehicles()
        self._judges.watch(stamp, ego, self.vehicles, self.engine.collisions(), self.engine.ego_light())
        self._steps += 1
        if self._steps % self._period == 0:
            self.population.keep_up(self.vehicles, ego.pose.x, ego.pose.y)

    def _show(self, lights: Mapping[int, int]) -> None:
        states = self._lights.states(lights)
        self.engine.show({light: state for light, state in states.items() if self._shown.get(light) != state})
        self._shown = states

    def boxes(self) -> ActorBoxes:
        """All vehicles as they are now, without the ego."""
        seen = self.vehicles
        rows = [(each.pose.x, each.pose.y, each.z, each.pose.heading, each.length, each.width, each.v) for each in seen]
        kinds = [kind_of(self.engine.kind(each.number)) for each in seen]
        return ActorBoxes(
            np.array(rows).reshape(-1, 7),
            np.array(kinds, dtype=np.uint8),
            np.array([each.number for each in seen], dtype=np.int64),
        )

    def verdict(self) -> dict[str, Any]:
        """The vehicles that drove, and what the judges say."""
        return {
            "vehicles": self.population.count,
            "rude": self.population.rude,
            "removed": self.population.removed,
            "ego_unseen_s": round(self._ego.unseen_steps * self._dt, 3),
            **self._judges.verdict(self._stamp),
        }


def check_scenario(scenario: Scenario) -> None:
    """Whether SUMO can drive everybody that a scenario has.

    Raises:
        InputError: it has pedestrians, actors that do what its text says, or roads that its text closes.
    """
    if scenario.actors:
        names = ", ".join(actor.name for actor in scenario.actors)
        raise InputError(scenario.file, f"its own actors {names}, unknown to SUMO", "no actors with SUMO")
    if scenario.population.pedestrians:
        raise InputError(
            scenario.file, f"{scenario.population.pedestrians} pedestrians, unknown to SUMO",
            "none with SUMO: --set pedestrians=0",
        )  # fmt: skip
    works = next((node for node in nodes(scenario.storyboard) if isinstance(node, Action) and _closing(node)), None)
    if works is not None and scenario.population.vehicles:
        what, expected = "closes a road, which SUMO's vehicles would drive through", "no road works with SUMO"
        raise InputError(scenario.where(works.at), what, expected)


def _closing(action: Action) -> bool:
    return any(isinstance(command, CloseRoad) for command in action.begin)
