"""A compiled scenario: plain frozen values that the simulation consumes.

The text (OpenSCENARIO 2, ASAM DSL) is compiled once into a `Scenario`; while that runs,
`storyboard.Storyboard(scenario, draw)` turns what it sees (`SimulationView`) into `commands`. Poses are of the
reference point: the rear axle of a vehicle, the centre of anything else. SI units, `map` frame.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from tuling_fsm.core.errors import assert_never
from tuling_fsm.core.geometry import Pose
from tuling_fsm.sim.scenario.choices import ActorKind
from tuling_fsm.sim.scenario.commands import Command
from tuling_fsm.sim.scenario.conditions import Condition
from tuling_fsm.sim.scenario.placements import Placement
from tuling_fsm.sim.scenario.syntax_tree import NO_TEXT, SourceLocation
from tuling_fsm.world.inputs import Kind, Light

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


@dataclass(frozen=True)
class ScriptedRoute:
    """Over these places as `RouteVia`, or to the last one alone where lanes do not join them all.

    Without a way there: at most `length_m` on from the start, straight on where lanes fork, to the end of the road.
    """

    placements: tuple[Placement, ...]
    length_m: float


EgoRoute = RandomRoute | RouteTo | RouteVia | ScriptedRoute


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


# What OpenSCENARIO XML has besides.


class EventPriority(str, Enum):
    """What an event does to the others of its maneuver that are going on when it is triggered."""

    OVERRIDE = "override"
    SKIP = "skip"
    PARALLEL = "parallel"


@dataclass(frozen=True)
class Event:
    """Its actions side by side whenever the trigger holds, `executions` times; without a trigger at once."""

    member: Node
    trigger: Condition | None
    priority: EventPriority = EventPriority.PARALLEL
    executions: int = 1
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class ScriptedManeuver:
    """Events that wait for their triggers side by side; over when every one has been executed as often as it may."""

    events: tuple[Event, ...]
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class Repeat:
    """A node so many times, one after the other."""

    member: Node
    times: int
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class SignalPhase:
    """What a phase of a signal controller sets, and how long it lasts, s."""

    name: str
    commands: tuple[Command, ...]
    seconds: float
    at: SourceLocation = field(default=NO_TEXT, compare=False)


@dataclass(frozen=True)
class SignalCycle:
    """Phases one after the other, again and again, from `start` on (s since the run began); never over. The variable of
    the controller says which phase it is; the event of the same name, that the variable has been set to another one,
    which then begins.
    """

    controller: str
    phases: tuple[SignalPhase, ...]
    start: float = 0.0
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


class Operator(str, Enum):
    """What is done with the value of a variable."""

    SET = "set"
    ADD = "add"
    MULTIPLY = "multiply"


@dataclass(frozen=True)
class Assign:
    """Give a variable of the scenario a value, or add to it or multiply it."""

    variable: str
    operator: Operator
    value: str
    label: str = ""
    at: SourceLocation = field(default=NO_TEXT, compare=False)


Node = Action | Wait | Emit | Serial | Parallel | OneOf | ScriptedManeuver | Repeat | SignalCycle | Assign


def nodes(root: Node) -> Iterator[Node]:
    """The node and all below it, in the order of the text."""
    yield root
    match root:
        case Serial() | Parallel() | OneOf():
            for member in root.members:
                yield from nodes(member)
        case ScriptedManeuver(events):
            for event in events:
                yield from nodes(event.member)
        case Repeat(member):
            yield from nodes(member)
        case Action() | Wait() | Emit() | Assign() | SignalCycle():
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
    default_controller: bool = False
    """Whether OpenSCENARIO's default controller moves it, which does what the script says and minds nobody."""
    seen_as: Kind | None = None
    """What is seen in it; None: what any actor of its kind is."""
    center_ahead: float | None = None
    """From the reference point to the centre of the body along the heading, m; None: as in any actor of its kind."""


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
    notes: tuple[str, ...] = field(default=(), compare=False)
    """What of the text has no effect, a line each."""
    read_files: Mapping[str, str] = field(default_factory=dict, compare=False)
    """What was read, `file` first, then imports, catalogs and trajectories; of each the SHA-256 of what was in it."""

    def with_mission(self, file: Path | None) -> Scenario:
        """The same, with the mission of a file in place of the ego's own route or mission; None leaves these."""
        return self if file is None else replace(self, route=None, mission_file=str(file))

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
        """Whether the actor has finished its last `FollowRoute`, `FollowPath` or `Walk`."""

    def in_lane(self, name: str) -> bool:
        """Whether the actor has finished its last `ChangeLane`."""

    def road_distance(self, name: str, reference: str) -> float | None:
        """Distance along the road between the reference points (m, + ahead); None when no road joins them."""

    def pose_of(self, placement: Placement) -> Pose | None:
        """Where a placement is; None when it is not on the map."""

    def traveled(self, name: str) -> float:
        """Way of the actor since the run began, m."""

    def maneuver_over(self, name: str, number: int) -> bool:
        """Whether the actor has carried out its maneuver of this number, or has been given another one instead."""

    def on_road(self, name: str) -> bool:
        """Whether the reference point of the actor is on a lane of any type."""

    def at_end_of_road(self, name: str) -> bool:
        """Whether no lane goes on from where the actor is."""

    def others(self, name: str) -> Sequence[ActorState]:
        """All actors in the world but this one."""

    def light(self, signal: int) -> Light:
        """The state of a signal, `UNKNOWN` where there is none of that number."""
