"""The planner node as a process of its own, on real Fast DDS."""

from __future__ import annotations

import contextlib
import json

import numpy as np
import pytest
from patience import PATIENCE_S

from ros.fakes import COMPILED
from ros.rig import Rig, frame, stop_process
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_inputs, read_run_record, read_transitions
from tuling_fsm.core.topics import BY_NAME
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.wire.diagnostics import DiagnosticLevel, unpack_diagnostics
from tuling_fsm.wire.text import pack_string, unpack_json, unpack_string

pytestmark = pytest.mark.ros


def limiting(rig: Rig) -> str:
    """What limits the car, by the latest `why`."""
    return dict(unpack_diagnostics(rig.latest("why"), "why")[0].values)["code"]


def test_lifecycle_and_a_bad_map(rig, tmp_path):
    process = rig.start_planner(map_file=tmp_path / "none.xodr")
    assert rig.planner.state(PATIENCE_S) == "unconfigured"
    assert not rig.planner.change("configure", PATIENCE_S)
    assert rig.planner.state(PATIENCE_S) == "unconfigured"
    (tmp_path / "none.xodr").write_text("map")
    assert rig.planner.change("configure", PATIENCE_S)
    assert rig.planner.state(PATIENCE_S) == "inactive"
    assert not rig.call("explain").success
    for label, state in (
        ("activate", "active"), ("deactivate", "inactive"), ("activate", "active"), ("deactivate", "inactive"),
        ("cleanup", "unconfigured"), ("configure", "inactive"),
    ):  # fmt: skip
        assert rig.planner.change(label, PATIENCE_S)
        assert rig.planner.state(PATIENCE_S) == state
    assert not rig.planner.change("deactivate", PATIENCE_S)
    said = stop_process(process)
    assert "cannot configure: map_file: no file" in said
    assert "Traceback" not in said
    assert process.returncode == 0


@pytest.mark.clause("EXPL-1")
def test_while_it_compiles_diagnostics_say_how_far_it_is(rig, map_file, tmp_path, monkeypatch):
    compiled, said = tmp_path / "compiled", []
    monkeypatch.setenv(COMPILED, str(compiled))

    def hear(raw: bytes) -> None:
        said.append(unpack_diagnostics(raw, "diagnostics")[0])
        compiled.touch()

    topic = BY_NAME["/diagnostics"]
    rig.node.create_subscription(message_class(topic.type), topic.name, hear, profile(topic.qos), raw=True)
    rig.fork_planner(map_file=map_file)
    assert rig.planner.change("configure", PATIENCE_S)
    assert (said[0].name, said[0].message) == ("planner", "compiling kernels, once: 1 of 2 parts, 3 s")
    assert said[0].level is DiagnosticLevel.OK


@pytest.mark.clause("SAF-1")
def test_a_lock_step_exchange_and_a_stop_on_the_wire_at_the_end(rig, map_file, tmp_path):
    asked = rig.serve_routes()
    process = rig.start_planner(map_file=map_file, lock_step=True, record=tmp_path / "out")
    rig.activate()
    stamp, x, moving = 10.0, 0.0, None
    for k in range(40):
        stamp = (200 + k) / 20
        rig.send(frame(stamp, x, 5.0))
        moving = rig.until_answered(stamp)
        x += 0.05 * float(moving.v[0])
    assert len(asked) == 1
    assert x > 9.0
    rig.until(lambda: unpack_string(rig.latest("state"), "state") == "on_road/normal")
    event = unpack_json(rig.latest("transition"), "transition")
    # Asked on the first tick; the second waits for the answer.
    assert (event["stamp"], event["to"], event["clause"]) == (10.05, "on_road/normal", "DEP-2")
    rig.until(lambda: limiting(rig) == "NONE")
    assert "on_road/normal" in rig.call("explain").message

    assert moving is not None and moving.v[0] > 4.0
    before = len(rig.received["trajectory"])
    said = stop_process(process)
    assert process.returncode == 0, said
    rig.until(lambda: len(rig.received["trajectory"]) > before)
    stop = rig.trajectories()[-1]
    assert stop.v[0] == pytest.approx(moving.v[0], abs=0.1)
    assert stop.v[-1] == 0.0
    assert (np.diff(stop.v) <= 1e-9).all()

    assert [inputs.stamp for inputs in read_inputs(BagSource(tmp_path / "out"))] == [(200 + k) / 20 for k in range(40)]
    assert [t["to"] for t in read_transitions(BagSource(tmp_path / "out"))] == ["on_road/normal"]
    assert read_run_record(BagSource(tmp_path / "out"))["map"] == str(map_file)


@pytest.mark.parametrize("lock_step", [False, True])
def test_the_bag_of_a_drive_is_kept_when_the_planner_is_activated_again(rig, map_file, tmp_path, lock_step):
    """A run in lock-step is repeated, and written anew."""
    rig.serve_routes()
    rig.fork_planner(map_file=map_file, record=tmp_path / "out", lock_step=lock_step)
    rig.activate()
    rig.send(frame(10.0))
    rig.until_answered(10.0)
    for label in ("deactivate", "activate"):
        assert rig.planner.change(label, PATIENCE_S)
    rig.send(frame(20.0))
    rig.until_answered(20.0)
    assert rig.planner.change("deactivate", PATIENCE_S)
    before = tmp_path / "out" / "before_1"
    assert 20.0 in [inputs.stamp for inputs in read_inputs(BagSource(tmp_path / "out"))]
    assert before.exists() is not lock_step
    assert lock_step or 10.0 in [inputs.stamp for inputs in read_inputs(BagSource(before))]


@pytest.mark.clause("SIM-1")
def test_lock_step_waits_for_the_tables_of_the_stamp_and_answers_again_what_was_lost(rig, map_file):
    rig.serve_routes()
    rig.fork_planner(map_file=map_file, lock_step=True)
    rig.activate()
    for k in range(5):
        rig.send(frame(1.0 + 0.05 * k))
        rig.until_answered(1.0 + 0.05 * k)
    rig.send(frame(2.0), without=("objects",))
    rig.call("explain")
    rig.idle(0.1)
    assert rig.trajectories()[-1].stamp == pytest.approx(1.2)
    rig.send(frame(2.0), without=("odometry", "traffic_lights"))
    rig.until_answered(2.0)
    answers = len(rig.received["trajectory"])
    rig.send(frame(2.0))
    rig.until(lambda: len(rig.received["trajectory"]) > answers)
    assert rig.received["trajectory"][-1] == rig.received["trajectory"][answers - 1]


@pytest.mark.clause("SAF-1")
def test_silent_odometry_makes_the_timer_tick(rig, map_file):
    rig.fork_planner(map_file=map_file)
    rig.activate()
    rig.until(lambda: len(rig.received["trajectory"]) > 3)
    rig.send(frame(50.0))
    rig.until_answered(50.0)
    rig.until(lambda: 50.5 < rig.trajectories()[-1].stamp < 1000.0)
    later = [t.stamp - 50.0 for t in rig.trajectories() if 50.0 < t.stamp < 1000.0]
    assert later[0] > 0.19 and later == sorted(later)
    rig.until(lambda: len(rig.received["/diagnostics"]) > 0)


@pytest.mark.clause("EST-1")
def test_an_emergency_stop_holds_the_next_trajectory(rig, map_file):
    rig.serve_routes()
    rig.fork_planner(map_file=map_file, lock_step=True)
    rig.activate()
    for k in range(6):
        rig.send(frame(1.0 + 0.05 * k, stop=False))
        rig.until_answered(1.0 + 0.05 * k)
    assert rig.trajectories()[-1].v[0] > 4.0
    rig.send(frame(1.3, stop=True))
    assert rig.until_answered(1.3).stands
    rig.until(lambda: limiting(rig) == "EMERGENCY_STOP")
    rig.until(lambda: unpack_string(rig.latest("indicators"), "indicators") == "hazard")
    assert rig.call("clear_emergency_stop").success


ANSWERS = {
    (2, "skip_task"): (True, "on the next tick"),
    (4, "reset"): (False, "the car is not parked"),
    (4, "skip_task"): (True, "when the emergency stop is released"),
    (4, "clear_emergency_stop"): (True, "on the next tick, if the remote is heard and says go"),
}


@pytest.mark.clause("DWELL-3")
def test_the_operators_calls_reach_the_next_tick_and_its_record_once(rig, map_file, tmp_path):
    calls = ("reset", "skip_task", "clear_emergency_stop")
    rig.serve_routes()
    process = rig.fork_planner(map_file=map_file, lock_step=True, record=tmp_path / "out")
    assert rig.planner.change("configure", PATIENCE_S)
    for name in calls:
        answer = rig.call(name)
        assert not answer.success and "not active" in answer.message
    assert rig.planner.change("activate", PATIENCE_S)
    rig.until(lambda: all(p.get_subscription_count() for p in rig.publishers.values()))
    for k in range(6):
        for name in {2: ("skip_task",), 4: calls}.get(k, ()):
            answer = rig.call(name)
            assert (answer.success, answer.message) == ANSWERS[k, name]
        rig.send(frame(1.0 + 0.05 * k, stop=k >= 3))
        rig.until_answered(1.0 + 0.05 * k)
    stop_process(process)
    seen = [[name for name in calls if getattr(inputs, name)] for inputs in read_inputs(BagSource(tmp_path / "out"))]
    assert seen == [[], [], ["skip_task"], [], ["skip_task", "clear_emergency_stop"], []]


@pytest.mark.clause("EXPL-1", "USE-12")
def test_the_explanation_is_in_the_language_that_is_set(rig, map_file):
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import SetParameters

    rig.serve_routes()
    rig.fork_planner(map_file=map_file, lock_step=True)
    rig.activate()
    rig.send(frame(1.0))
    rig.until_answered(1.0)
    assert rig.call("explain").message.startswith("In departure/plan_once")
    client = rig.node.create_client(SetParameters, "planner/set_parameters")
    rig.until(client.service_is_ready)
    for language, accepted in (("zh", True), ("tlh", False)):
        word = ParameterValue(type=ParameterType.PARAMETER_STRING, string_value=language)
        future = client.call_async(SetParameters.Request(parameters=[Parameter(name="language", value=word)]))
        rig.until(future.done)
        assert future.result().results[0].successful is accepted
        assert rig.call("explain").message.startswith("状态 departure/plan_once")


@pytest.mark.clause("SAF-1", "SAF-3")
def test_neither_bad_messages_nor_a_failing_planner_end_the_node(rig, map_file):
    rig.serve_routes()
    process = rig.fork_planner(map_file=map_file, lock_step=True, fail_at_x=50.0)
    rig.activate()
    rng = np.random.default_rng(0)
    for topic in rig.publishers:
        for size in (0, 3, 4, 11, 40, 400):
            for head in (b"\0\1\0\0", b"\0\0\0\0"):
                with contextlib.suppress(RuntimeError):  # DDS itself refuses more bytes than the largest Bool has.
                    rig.publish(topic, head + rng.bytes(size))
    rig.publish("mission", pack_string("{"))
    for k in range(6):
        rig.send(frame(1.0 + 0.05 * k, x=40.0, v=5.0, stop=False))
        rig.until_answered(1.0 + 0.05 * k)
    assert rig.trajectories()[-1].v[0] > 4.0
    rig.send(frame(1.3, x=60.0, v=5.0))
    braking = rig.until_answered(1.3)
    assert braking.v[0] > 4.0 and braking.v[-1] == 0.0
    rig.send(frame(1.35, x=40.0, v=5.0))
    assert rig.until_answered(1.35).v[0] > 4.0
    said = stop_process(process)
    assert "mission: no JSON" in said
    assert said.count("the planner failed, braking: RuntimeError: beyond the world's end") == 1
    assert process.returncode == 0


def test_an_impossible_transition_is_survived(rig, map_file):
    rig.fork_planner(map_file=map_file)
    assert rig.planner.state(PATIENCE_S) == "unconfigured"
    assert not rig.planner.change("no_such_thing", PATIENCE_S)
    assert rig.planner.state(PATIENCE_S) == "unconfigured"


@pytest.mark.clause("USE-12")
def test_live_parameters_take_effect_on_the_next_tick_and_others_are_refused(rig, map_file):
    from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
    from rcl_interfaces.srv import DescribeParameters, SetParameters

    rig.serve_routes()
    rig.fork_planner(map_file=map_file, lock_step=True)
    rig.activate()
    client = rig.node.create_client(SetParameters, "planner/set_parameters")
    rig.until(client.service_is_ready)

    def set_value(name: str, value: float) -> tuple[bool, str]:
        double = ParameterValue(type=ParameterType.PARAMETER_DOUBLE, double_value=value)
        future = client.call_async(SetParameters.Request(parameters=[Parameter(name=name, value=double)]))
        rig.until(future.done)
        return future.result().results[0].successful, future.result().results[0].reason

    for k in range(4):
        rig.send(frame(1.0 + 0.05 * k))
        rig.until_answered(1.0 + 0.05 * k)
    assert rig.trajectories()[-1].v[0] == pytest.approx(5.0)
    assert set_value("speed", 3.0)[0]
    rig.send(frame(1.2))
    assert rig.until_answered(1.2).v[0] == pytest.approx(3.0)
    refused, why = set_value("speed", 99.0)
    assert not refused and "speed" in why
    refused, why = set_value("speed", 9.0)
    assert not refused and why == "speed: 9 m/s is above vehicle.max_speed (expected at most 8.33 m/s)"
    refused, why = set_value("vehicle.max_speed", 2.0)
    assert not refused and why == "speed: 3 m/s is above vehicle.max_speed (expected at most 2 m/s)"
    rig.send(frame(1.25))
    assert rig.until_answered(1.25).v[0] == pytest.approx(3.0)
    refused, why = set_value("vehicle.wheelbase", 2.5)
    assert not refused and "configure" in why

    describe = rig.node.create_client(DescribeParameters, "planner/describe_parameters")
    rig.until(describe.service_is_ready)
    future = describe.call_async(DescribeParameters.Request(names=["vehicle.max_speed"]))
    rig.until(future.done)
    described = future.result().descriptors[0]
    assert "m/s" in described.description and "live" in described.description
    assert described.floating_point_range[0].to_value == 40.0


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"map_fil": "x"}, "parameter map_fil: no such parameter (expected map_file)"),
        ({"speed": 99.0}, "speed: 99.0 is out of range"),
        ({"vehicle__wheelbase": "long"}, "vehicle.wheelbase: 'long' is no float (expected float from 0.5 to 8.0 m)"),
    ],
)
def test_bad_parameters_end_the_process_with_one_line_and_code_2(rig, settings, said):
    process = rig.start_planner(**settings)
    out, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 2
    assert said in out
    assert len(out.strip().splitlines()) == 1


def test_a_mission_file_is_used_until_a_mission_comes(rig, map_file, tmp_path):
    (tmp_path / "mission.json").write_text(json.dumps({"goal": {"x": 1.0, "y": 2.0}}))
    rig.serve_routes()
    process = rig.fork_planner(
        map_file=map_file, mission_file=tmp_path / "mission.json", lock_step=True, record=tmp_path / "out"
    )
    rig.activate()
    for k in range(2):
        rig.send(frame(1.0 + 0.05 * k))
        rig.until_answered(1.0 + 0.05 * k)
    rig.publish("mission", pack_string(json.dumps({"goal": {"x": 3.0, "y": 4.0}})))
    rig.call("explain")  # Messages are taken in the order in which they come, so that the mission has come by then.
    rig.send(frame(1.1))
    rig.until_answered(1.1)
    stop_process(process)
    assert [inputs.mission["goal"]["x"] for inputs in read_inputs(BagSource(tmp_path / "out"))] == [1.0, 1.0, 3.0]
