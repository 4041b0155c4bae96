"""A compiled scenario: plain frozen values that the simulation consumes.

The text (OpenSCENARIO 2, ASAM DSL) is compiled once into a `Scenario`; while that runs,
`storyboard.Storyboard(scenario, draw)` turns what it sees (`SimulationView`) into `commands`. Poses are of the
reference point: the rear axle of a vehicle, the centre of anything else. SI units, `map` frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import Condition
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import NO_TEXT, SourceLocation

EGO = "ego"
"""The name of the car under test, however the text spells it."""


# The way that the car under test is asked to go.


@dataclass(frozen=True)
class RandomRoute:
    """A route of about this length (m) from the ego's start, turns drawn by the seed."""

    length_m: float


@dataclass(frozen=True)
class RouteTo:
    """The route server plans from the start to the goal."""

    goal: Placement


@dataclass(frozen=True)
class RouteVia:
    """As `RouteTo` with points to pass on the way; the last placement is the goal."""

    placements: tuple[Placement, ...]


EgoRoute = RandomRoute | RouteTo | RouteVia


# The storyboard tree.


@dataclass(frozen=True)
class Action:
    """Issue `begin`; it lasts until `until` holds (None: it is over at once), then `end` is issued."""

    begin: tuple[Command, ...]
    until: Condition | None = None
    end: tuple[Command, ...] = ()
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class Wait:
    """Nothing until the condition holds."""

    condition: Condition
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class Emit:
    """Emit an event: whatever waits for it goes on in the same step or the next."""

    event: str
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class Serial:
    """Members one after the other; `until` cuts it short."""

    members: tuple[Node, ...]
    until: Condition | None = None
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class Parallel:
    """Members side by side; over when all are, or when `until` holds."""

    members: tuple[Node, ...]
    until: Condition | None = None
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class OneOf:
    """One of the members, drawn by the seed of the run; `until` cuts it short."""

    members: tuple[Node, ...]
    until: Condition | None = None
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


Node = Action | Wait | Emit | Serial | Parallel | OneOf


def nodes(root: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text."""
    yield root
    match root:
        case Serial() | Parallel() | OneOf():
            for member in root.members:
                yield from nodes(member)
        case Action() | Wait() | Emit():
            pass
        case _:
            assert_never(root)


# The whole.


@dataclass(frozen=True)
class ScenarioActor:
    """A scripted actor other than the ego. Without a placement it enters the world by a `Place`."""

    name: str
    kind: ActorKind
    length: float
    width: float
    placement: Placement | None
    speed: float = 0.0


@dataclass(frozen=True)
class Population:
    """Unscripted traffic: drawn by the seed over the map. `rude` is the share of it, 0 to 1, that is."""

    vehicles: int = 0
    pedestrians: int = 0
    rude: float = 0.0


@dataclass(frozen=True)
class Scenario:
    """A compiled scenario.

    `map_file` is resolved against the scenario's folder (None: whatever map is given). `actors` are in the
    order of the text, without the ego. What the storyboard assigns before its first wait is folded into the
    placements and taken out of the tree: the simulation builds the world from `ego`, `ego_speed`, `actors`
    and `population`, then steps the storyboard. The run ends at the route's end (or parked, for a mission)
    or after `max_duration_s`; that the storyboard is over does not end it.
    """

    name: str
    file: str
    map_file: str | None
    ego: Placement
    ego_speed: float
    route: EgoRoute | None
    actors: tuple[ScenarioActor, ...]
    population: Population
    max_duration_s: float | None
    storyboard: Node
    mission_file: str | None = None
    variables: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    """The declared variables after overrides, in SI units: for the report."""
    places_at: Mapping[str, SourceLocation] = field(default_factory=dict, compare=False)
    """Where the text says of an actor where it is when the run begins."""

    def where(self, at: SourceLocation) -> str:
        """`file:line:column` of a place in its text."""
        return self.file if at == NO_TEXT else f"{self.file}:{at.line}:{at.column}"

    def where_issued(self, command: Command) -> str:
        """`file:line:column` of the action that issues this very command."""
        for node in nodes(self.storyboard):
            if isinstance(node, Action) and any(each is command for each in (*node.begin, *node.end)):
                return self.where(node.at)
        return self.file


class ActorState(NamedTuple):
    """An actor as seen: reference point, speed (m/s, + forward), acceleration along the heading, body (m)."""

    pose: Pose
    speed: float
    acceleration: float
    length: float
    width: float
    center_ahead: float = 0.0
    """From the reference point to the centre of the body along the heading, m."""


class SimulationView(Protocol):
    """The simulation as the storyboard sees it, once a step."""

    @property
    def stamp(self) -> float:
        """Simulated time, s."""

    def actor(self, name: str) -> ActorState | None:
        """The state of an actor by name (`EGO` for the ego); None while it is not in the world."""

    def arrived(self, name: str) -> bool:
        """Whether the actor has finished its last `FollowRoute`, `FollowPath`, `Walk` or `ChangeLane`."""

    def road_distance(self, name: str, reference: str) -> float | None:
        """Distance along the road between the reference points (m, + ahead); None when no road joins them."""

    def pose_of(self, placement: Placement) -> Pose | None:
        """Where a placement is; None when it is not on the map."""
