"""Parameters of the nodes themselves, beside those of the planner and the simulator, and the files that they name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeVar

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import ParameterSpec, describe, group, param
from tuling_fsm.core.vehicle import Vehicle
from tuling_fsm.wire.text import parse_json
from tuling_fsm.wire.why import LANGUAGES


@dataclass(frozen=True)
class PlannerNodeParameters:
    """Of the node `planner`."""

    map_file: str = param("", doc="OpenDRIVE map (.xodr); has to be set")
    mission_file: str = param("", doc="mission (JSON) used until one comes on the topic; empty for none")
    record: str = param("", doc="folder that gets run.mcap, a bag for replay; empty for none")
    state_file: str = param(
        "", doc="file that keeps the state, written every half second and at the end; empty for none", clause="EST-2"
    )
    resume: bool = param(
        False, doc="on activate go on from state_file, if it is there: for a restart in mid-drive", clause="EST-2"
    )
    lock_step: bool = param(
        False,
        doc="tick only when objects and traffic_lights with the odometry's stamp and all answers of the route server "
        "have come: for simulators that wait for the trajectory, so that a run repeats bit for bit",
        clause="SIM-1",
    )
    odometry_timeout: float = param(
        0.2, "s", 0.05, 2.0, "without odometry for so long a timer ticks", clause="SAF-1", live=True
    )
    route_timeout: float = param(
        5.0, "s", 0.1, 60.0, "a question to the route server is given up after it", clause="RRF-3", live=True
    )
    late_after: float = param(
        0.15,
        "s",
        0.01,
        5.0,
        "instead of a plan that took longer the rest of the last one is sent",
        clause="SAF-1",
        live=True,
    )
    keep_warm: bool = param(
        True,
        doc="do the last tick once more shortly before the next odometry, without effect, so that the caches "
        "hold what a tick needs: the plan comes sooner, for the processor time of a second tick; not in lock_step",
        live=True,
    )
    language: str = param("en", doc="of ~/explain", clause="EXPL-1", live=True, choices=LANGUAGES)
    why_rate: float = param(5.0, "Hz", 0.1, 50.0, "of the topics why and markers", clause="EXPL-1", live=True)


@dataclass(frozen=True)
class RouteServerParameters:
    """Of the node `route_server`."""

    map_file: str = param("", doc="OpenDRIVE map (.xodr); has to be set")


STATUS = "status "
"""Begins a line that is for a program."""


@dataclass(frozen=True)
class SimNodeParameters:
    """Of the node `sim`."""

    scenario: str = param("", doc="OpenSCENARIO file (DSL 2 or XML); has to be set")
    map_file: str = param("", doc="OpenDRIVE map instead of the scenario's own; empty for that")
    mission_file: str = param("", doc="mission (JSON) instead of the scenario's own mission or route; empty for that")
    seed: int = param(1, "", 0, 2**31 - 1, "of everything random", clause="SIM-2")
    overrides: str = param("", doc="JSON object of variables of the scenario and their values, as text; empty for none")
    out: str = param("", doc="folder that gets result.json and pictures.html; empty for none")
    status_lines: bool = param(False, doc="also print how the run stands as JSON, for a program that shows it")
    start_timeout: float = param(300.0, "s", 1.0, 3600.0, "until planner and route server are there, wall time")
    answer_timeout: float = param(
        60.0, "s", 0.5, 600.0, "for one trajectory, wall time; then the run ends with an error"
    )
    resend_after: float = param(0.5, "s", 0.05, 60.0, "without a trajectory the frame is sent again, wall time")
    vehicle: Vehicle = group(Vehicle)


VIEW_SAYS = "view: "
"""Begins the line that has the address of the page."""


@dataclass(frozen=True)
class ViewNodeParameters:
    """Of the node `view`."""

    map_file: str = param("", doc="OpenDRIVE map (.xodr); has to be set")
    host: str = param("127.0.0.1", doc="address to listen on; 0.0.0.0 shows the page to other machines too")
    port: int = param(0, "", 0, 2**16 - 1, "to listen on; 0 takes a free one")
    title: str = param("", doc="of the page; empty for the name of the map")
    out: str = param("", doc="folder in which a simulated run leaves result.json; empty for none")


def planner_specs(agent_parameters: type[object]) -> Iterable[ParameterSpec]:
    """All parameters of the node `planner`: its own, then those of the planner by room."""
    yield from describe(PlannerNodeParameters)
    yield from describe(agent_parameters)


_PATHS = ("map_file", "mission_file", "record", "state_file", "scenario", "out")


class _Dataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Any]]


_Own = TypeVar("_Own", bound=_Dataclass)


def in_home(own: _Own) -> _Own:
    """Parameters of a node with `~` for the folder of the user, which no shell sees in a file of parameters.

    Raises:
        InputError: of a user that there is not.
    """
    paths = {each.name: str(getattr(own, each.name)) for each in fields(own) if each.name in _PATHS}
    named = {name: path for name, path in paths.items() if path.startswith("~")}
    try:
        found: dict[str, Any] = {name: str(Path(path).expanduser()) for name, path in named.items()}
    except RuntimeError as error:
        raise InputError(", ".join(named), f"{error}", "a path") from None
    return replace(own, **found)


def required_file(parameter: str, path: str) -> Path:
    """A file that a parameter names.

    Raises:
        InputError: the parameter is not set, or there is no such file.
    """
    if not path:
        raise InputError(parameter, "not set", "a file")
    if not Path(path).is_file():
        raise InputError(parameter, f"no file {path}", "a file")
    return Path(path)


def read_mission(path: str) -> dict[str, object]:
    """The mission of the parameter `mission_file`.

    Raises:
        InputError: no such file, no JSON, no object.
    """
    file = required_file("mission_file", path)
    try:
        return parse_json(file.read_text(encoding="utf-8-sig"), str(file))
    except UnicodeDecodeError as error:
        raise InputError(str(file), f"no text: {error}", "a mission in UTF-8") from None
