"""A planner that is started again in mid-drive goes on from its saved state."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from tuling_fsm.agent import Agent, Parameters
from tuling_fsm.bag.replay import agent_of, replay, replayed_ticks, state_of
from tuling_fsm.bag.saved_state import FORMAT, go_on, load_state, map_identity, save_state
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record
from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.behaviour.intersection.memory import IntersectionMemory
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import flatten
from tuling_fsm.input_file import content_sha256
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.sim.scenario.compiler import load_scenario
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.outputs import Outputs
from tuling_fsm.world.inputs import BoolMessage, Inputs

CONFIG = Path(__file__).resolve().parents[2] / "config"


def drive(agent: Agent, simulation: Simulation, ticks: int, bag: BagWriter | None = None) -> list[str]:
    """The states that are gone through."""
    states, outputs = [], Outputs()
    for _ in range(ticks):
        tick = agent.step(simulation.inputs())
        if bag is not None:
            bag.write_tick(simulation.inputs(), outputs.messages(tick, nanoseconds(tick.stamp)))
        for request in tick.decision.route_requests:
            simulation.request_route(request)
        simulation.advance(tick.trajectory, tick.state)
        states.append(tick.state)
    return states


@pytest.mark.slow
@pytest.mark.clause("EST-2")
def test_another_agent_goes_on_at_speed_in_the_same_state_on_the_same_route(tmp_path):
    road_map = read_map(CONFIG / "course" / "course.xodr")
    scenario = load_scenario(CONFIG / "scenarios" / "roam.osc", {"vehicles": "2", "length_m": "300"})
    simulation = Simulation(road_map, scenario, 1, Parameters().vehicle)
    first = Agent(road_map)
    drive(first, simulation, 110)
    save_state(tmp_path / "deep" / "state", first.record, "course.xodr")
    second = Agent(road_map)
    second.restore(load_state(tmp_path / "deep" / "state", "course.xodr"))
    assert second.record.machine.clock == first.record.machine.clock
    assert second.record.machine.entered_at == first.record.machine.entered_at
    before = simulation.ego.v
    assert before > 4.0
    asked = second.record.machine.memory.routing.number
    map_file = CONFIG / "course" / "course.xodr"
    run = {"map": str(map_file), "parameters": flatten(Parameters())}
    with BagWriter(tmp_path / "bag", run | state_of(second.record, map_file)) as bag:
        assert drive(second, simulation, 20, bag) == ["on_road/normal"] * 20
    assert simulation.ego.v > before - 0.3
    assert second.record.machine.memory.routing.number == asked
    assert second.record.machine.in_state_s > 1.0

    assert replay(BagSource(tmp_path / "bag"), out=tmp_path / "again") == []
    assert replay(BagSource(tmp_path / "again")) == []
    for how, states in (
        (read_run_record(BagSource(tmp_path / "bag")), {"on_road/normal"}),
        (run, {"departure/plan_once"}),
    ):
        again = replayed_ticks(agent_of(how, "bag"), read_inputs(BagSource(tmp_path / "bag")))
        assert {answer.tick.state for answer in again} == states
    with pytest.raises(InputError, match="no saved state"):
        agent_of({**run, "state": "?"}, "bag")


@pytest.mark.clause("EST-2", "EST-3")
@pytest.mark.parametrize(("said", "clear"), [(False, False), (True, False), (None, True)])
def test_a_planner_that_is_started_again_has_the_links_time_until_it_is_silent(said: bool | None, clear: bool) -> None:
    """The remote goes on sending all the time, but no message of it comes before the first tick."""
    town = read_map(CONFIG / "course" / "course.xodr")
    before = Agent(town)
    before.step(Inputs(10.0, emergency_stop=BoolMessage(10.0, bool(said))))
    again = Agent(town)
    again.restore(before.record)
    remote = None
    for k in range(13):
        stamp = 12.0 + 0.05 * k
        if said is not None and stamp >= 12.1:
            remote = BoolMessage(stamp, said)
        tick = again.step(Inputs(stamp, emergency_stop=remote))
        path = dict(tick.decision.supervisors)["emergency_stop"]
        assert path == ("link_lost" if k > 10 and said is None else "stopped" if said else "armed")
    released = again.step(Inputs(12.65, emergency_stop=BoolMessage(12.65, False), clear_emergency_stop=clear))
    assert dict(released.decision.supervisors)["emergency_stop"] == "armed"


@pytest.mark.clause("EST-2")
@pytest.mark.clause("INT-4")
@pytest.mark.medium
def test_the_clock_of_a_junction_goes_on_from_where_it_was(tmp_path):
    """It is part of what the machine remembers, not one of its rows' dwells."""
    road_map = read_map(CONFIG / "course" / "course.xodr")
    first, second = Agent(road_map), Agent(road_map)
    machine = first.record.machine
    waited = replace(machine.memory, intersection=IntersectionMemory(standing_s=37.5))
    save_state(tmp_path / "state", replace(first.record, machine=replace(machine, memory=waited)), "course.xodr")
    second.restore(load_state(tmp_path / "state", "course.xodr"))
    assert second.record.machine.memory.intersection.standing_s == 37.5


class Evil:
    def __reduce__(self):
        return (print, ("it ran",))


def named(module: str, name: str, rest: bytes) -> bytes:
    """A pickle of what a name stands for, and of steps after that."""
    texts = b"".join(b"\x8c" + bytes([len(text)]) + text.encode() for text in (module, name))
    return b"\x80\x04" + texts + pickle.STACK_GLOBAL + rest + pickle.STOP


def called_with(*arguments: object) -> bytes:
    return pickle.dumps(arguments, protocol=0).removesuffix(pickle.STOP) + pickle.REDUCE


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (pickle.dumps((FORMAT, "m", "", Evil())), "builtins.print in it"),
        (pickle.dumps((FORMAT, "m", "", read_map)), "read_map in it"),
        (named("tuling_fsm.core.geometry", "np.f2py.subprocess.Popen", called_with(["echo", "it ran"])), "Popen in it"),
        (named("tuling_fsm.core.geometry", "NamedTuple", called_with("it ran", [])), "geometry.NamedTuple in it"),
        (named("tuling_fsm.bag.writer", "BagWriter", called_with("it_ran")), "BagWriter in it"),
        (pickle.dumps((FORMAT, "other.xodr", "", 1)), "belongs to the map other.xodr"),
        (pickle.dumps(("another", "m", "", 1)), "no saved state"),
        (pickle.dumps((FORMAT, "m", "old", 1)), "belongs to another version of the planner"),
        (b"\x80\x04garbage", "no saved state"),
        (b"", "no saved state"),
    ],
)
def test_a_file_that_is_no_saved_state_of_this_map_is_refused_and_runs_nothing(tmp_path, capsys, content, said):
    (tmp_path / "state").write_bytes(content)
    with pytest.raises(InputError, match=said):
        load_state(tmp_path / "state", "m")
    assert capsys.readouterr().out == ""


@pytest.mark.clause("EST-2")
def test_a_map_of_the_same_name_and_another_content_is_another_map(tmp_path):
    maps = []
    for folder, content in (("here", "<OpenDRIVE/>"), ("moved", "<OpenDRIVE/>"), ("other", "<OpenDRIVE></OpenDRIVE>")):
        file = tmp_path / folder / "map.xodr"
        file.parent.mkdir()
        file.write_text(content)
        maps.append(map_identity(file, content_sha256(file)))
    here, moved, other = maps
    save_state(tmp_path / "state", 1, here)
    assert load_state(tmp_path / "state", moved) == 1
    with pytest.raises(InputError, match=r"belongs to the map map\.xodr of SHA-256 [0-9a-f]+ "):
        load_state(tmp_path / "state", other)


def test_no_file_is_said_so_and_a_new_file_takes_the_place_of_the_old_one(tmp_path):
    with pytest.raises(InputError, match="cannot be read"):
        load_state(tmp_path / "state", "m")
    for value in (1, 2):
        save_state(tmp_path / "state", value, "m")
        assert load_state(tmp_path / "state", "m") == value
    assert [file.name for file in tmp_path.iterdir()] == ["state"]


def test_a_record_that_is_none_is_refused_in_one_line():
    agent = Agent(read_map(CONFIG / "course" / "course.xodr"))
    for record in (5, None, ("a", "b"), agent.record.machine):
        with pytest.raises(InputError, match="state: cannot be gone on from") as error:
            go_on(agent, record, "state")
        assert "\n" not in str(error.value)
