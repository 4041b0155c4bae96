"""What goes wrong around the planner node: other qualities of service, route servers that come and go, a restart."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from patience import PATIENCE_S

from ros.rig import Rig, _fake_planner, frame, stop_process
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_run_record
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import BY_NAME, DIAGNOSTICS, INPUTS, RELIABLE, TRAJECTORY
from tuling_fsm.ros import processes
from tuling_fsm.ros.lifecycle_client import LifecycleClient
from tuling_fsm.ros.processes import ProcessGroup, bring_up
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.ros.route_client import RouteClient
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.wire import cdr
from tuling_fsm.wire.diagnostics import unpack_diagnostics
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.world.inputs import RouteRequest

pytestmark = pytest.mark.ros

SCENARIO = Path(__file__).parents[2] / "config" / "scenarios" / "demo.osc"


def kept_for_another_map(file):
    """The kept state, had it been kept with a map of the same name and another content."""
    kept = file.read_bytes()
    digest = re.search(rb"xodr of SHA-256 ([0-9a-f]+)", kept)
    assert digest is not None
    return kept.replace(digest[1], digest[1][::-1])


@pytest.mark.clause("EST-2", "SAF-1")
def test_a_planner_that_was_killed_goes_on_where_it_was_when_it_is_asked_to(map_file, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    how = {
        "map_file": map_file, "lock_step": True, "state_file": "~/state", "resume": True, "record": "~/out",
    }  # fmt: skip
    with Rig() as rig:
        asked = rig.serve_routes()
        process = rig.fork_planner(**how)
        rig.activate()
        for k in range(30):
            rig.send(frame(1.0 + 0.05 * k, 5.0))
            rig.until_answered(1.0 + 0.05 * k)
        assert len(asked) == 1
        process.kill()
    with Rig() as rig:
        asked = rig.serve_routes()
        again = rig.fork_planner(**how)
        rig.activate()
        rig.send(frame(9.0, 5.0))
        assert rig.until_answered(9.0).v[0] > 4.0
        assert asked == []
        assert rig.planner.change("deactivate", PATIENCE_S)
        for content in (kept_for_another_map(tmp_path / "state"), b"garbage"):
            (tmp_path / "state").write_bytes(content)
            assert not rig.planner.change("activate", PATIENCE_S)
        said = stop_process(again)
    assert f"going on from {tmp_path / 'state'}" in said
    assert "state" in read_run_record(BagSource(tmp_path / "out"))
    assert (tmp_path / "out" / "before_1" / "run.mcap").is_file()
    assert "cannot activate" in said and "no saved state" in said and "belongs to the map" in said


def test_a_sender_of_another_quality_of_service_is_reported(rig, map_file):
    from nav_msgs.msg import Odometry
    from rclpy.qos import QoSProfile, ReliabilityPolicy

    process = rig.fork_planner(map_file=map_file)
    rig.activate()
    weak = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    publisher = rig.node.create_publisher(Odometry, "odometry", weak)
    lines: list[str] = []
    assert process.stdout is not None
    while not any("incompatible QoS" in line for line in lines):
        lines.append(process.stdout.readline())
        assert lines[-1], "it ended"
    assert "'odometry'" in lines[-1] and "RELIABILITY" in lines[-1]
    rig.node.destroy_publisher(publisher)


def test_a_second_planner_is_told_of_on_diagnostics(rig, map_file):
    rig.fork_planner(map_file=map_file)
    rig.activate()
    publisher = rig.node.create_publisher(message_class(TRAJECTORY), "trajectory", profile(RELIABLE))

    def said() -> str:
        messages = rig.received["/diagnostics"]
        return unpack_diagnostics(messages[-1], "/diagnostics")[0].message if messages else ""

    rig.until(lambda: "1 more on the topic trajectory" in said())
    rig.node.destroy_publisher(publisher)
    rig.until(lambda: "more on the topic" not in said())


def test_cars_are_told_apart_on_diagnostics(rig, map_file):
    names: set[tuple[str, str]] = set()
    for car in ("car1", "car2"):
        rig.fork(*_fake_planner({"map_file": map_file}), "-r", f"__ns:=/{car}")
        planner = LifecycleClient(rig.node, rig.executor, f"/{car}/planner")
        assert planner.change("configure", PATIENCE_S) and planner.change("activate", PATIENCE_S)

    def both_heard() -> bool:
        said = [cdr.unpack(raw, DIAGNOSTICS, "") for raw in rig.received["/diagnostics"]]
        names.update((status.name, status.hardware_id) for message in said for status in message.status)
        return len(names) > 1 or len(said) > 6

    rig.until(both_heard)
    assert names == {("car1/planner", "car1/planner"), ("car2/planner", "car2/planner")}


def test_a_simulator_finds_a_planner_whose_outputs_are_remapped(rig):
    import rclpy

    from tuling_fsm.ros.planner_link import WATCHED, PlannerLink

    elsewhere = {"trajectory": "/control/trajectory"}
    rules = [part for pair in elsewhere.items() for part in ("-r", ":=".join(pair))]
    node = rclpy.create_node("sim", context=rig.context, cli_args=["--ros-args", *rules])
    link = PlannerLink(node, lambda _: None, 1.0)
    for topic in INPUTS:
        rig.node.create_subscription(message_class(topic.type), topic.name, lambda _: None, profile(topic.qos))
    for name in WATCHED:
        assert not link.planner_connected()
        kind, qos = message_class(BY_NAME[name].type), profile(BY_NAME[name].qos)
        rig.node.create_publisher(kind, elsewhere.get(name, name), qos)
    rig.until(link.planner_connected)
    node.destroy_node()


def test_a_run_beside_another_planner_is_refused_in_one_line(rig, map_file, monkeypatch):
    for _ in range(2):
        rig.fork_planner(map_file=map_file)
    rig.until(lambda: rig.node.get_node_names().count("planner") == 2)
    monkeypatch.setenv("ROS_DOMAIN_ID", str(rig.domain))
    with ProcessGroup() as group, pytest.raises(InputError, match=f"another one is in DDS domain {rig.domain} "):
        bring_up(group, rig.node, rig.executor)


def test_a_planner_that_drives_already_is_found_before_anything_is_started(rig, map_file, monkeypatch):
    rig.fork_planner(map_file=map_file)
    rig.until(lambda: "planner" in rig.node.get_node_names())
    monkeypatch.setenv("ROS_DOMAIN_ID", str(rig.domain))
    monkeypatch.setattr(processes, "DISCOVERY_S", PATIENCE_S)
    monkeypatch.setattr(processes, "compile_kernels", lambda report: None)
    monkeypatch.setattr(processes, "_start_nodes", lambda *_: pytest.fail("it goes on"))
    with pytest.raises(InputError, match=f"another one is in DDS domain {rig.domain} "):
        processes.run_processes(RunSettings(SCENARIO))


@pytest.mark.clause("RRF-3")
def test_a_route_server_may_be_away_late_lost_and_back_again(rig):
    from nav_msgs.srv import GetPlan
    from rclpy.serialization import deserialize_message

    answers: list[tuple[int, int | None]] = []
    lines: list[str] = []
    client = RouteClient(
        rig.node.create_client(GetPlan, "plan_route"),
        lambda number, points: answers.append((number, None if points is None else len(points))),
        lines.append,
    )
    pose = Pose(0.0, 0.0, 0.0)

    def ask(number: int) -> None:
        client.ask(1, RouteRequest(number, "refresh", pose, pose))

    def answer(_: object, __: object) -> object:
        return deserialize_message(pack_path(1, np.zeros((3, 3))), GetPlan.Response)

    ask(1)
    assert answers == [(1, None)] and "away" in lines[-1]
    service = rig.node.create_service(GetPlan, "plan_route", answer)
    rig.until(lambda: client.wait(0.01))
    ask(2)
    client.give_up(PATIENCE_S)
    rig.until(lambda: len(answers) == 2)
    assert answers[-1] == (2, 3)
    ask(3)
    client.give_up(0.0)
    assert answers[-1] == (3, None) and "no answer within 0 s" in lines[-1]
    rig.node.destroy_service(service)
    rig.until(lambda: not client.wait(0.01))
    ask(4)
    assert answers[-1] == (4, None)
    rig.node.create_service(GetPlan, "plan_route", answer)
    rig.until(lambda: client.wait(0.01))
    ask(5)
    rig.until(lambda: len(answers) == 5)
    assert answers == [(1, None), (2, 3), (3, None), (4, None), (5, 3)]
    rig.node.destroy_client(client.close())
