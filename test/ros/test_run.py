"""The whole product as separate processes: planner, simulator and route server on one scenario."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from patience import LONG_PATIENCE_S, PATIENCE_S, wait_until

from ros.children import children, gone
from ros.rig import Rig, frame, stop_process
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.routing import match_route, plan_route
from tuling_fsm.ros.processes import run_processes
from tuling_fsm.run_settings import RunSettings
from tuling_fsm.wire.paths import pack_path, unpack_path
from tuling_fsm.wire.plan import pack_plan_request

pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[2]
COURSE = ROOT / "config" / "course" / "course.xodr"


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    """The first seconds once round the town."""
    text = (ROOT / "config" / "scenarios" / "round.osc").read_text(encoding="utf-8")
    file = tmp_path / "short.osc"
    file.write_text(text.replace("../course", str(ROOT / "config" / "course")).replace("6min", "12s"), encoding="utf-8")
    return file


def test_bad_scenarios_and_maps_are_refused_with_one_line(scenario, tmp_path):
    with pytest.raises((InputError, OSError), match=r"none.osc"):
        run_processes(RunSettings(tmp_path / "none.osc"))
    (tmp_path / "bad.xodr").write_text("<OpenDRIVE/>")
    with pytest.raises(InputError, match=r"bad.xodr"):
        run_processes(RunSettings(scenario, map_file=tmp_path / "bad.xodr"))


def test_an_interrupted_run_leaves_no_process_behind(scenario, tmp_path):
    script = f"""
import signal
from pathlib import Path
from tuling_fsm.ros.processes import run_processes
from tuling_fsm.run_settings import RunSettings
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
run_processes(RunSettings(Path({str(scenario)!r})))
"""
    run = subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.DEVNULL)
    wait_until(lambda: len(children(run.pid)) >= 3)
    pids = children(run.pid)
    run.send_signal(signal.SIGINT)
    assert run.wait(PATIENCE_S) != 0
    wait_until(lambda: all(gone(pid) for pid in pids))


def test_the_route_server_answers_from_the_map_a_preset_and_round_a_block():
    from nav_msgs.msg import Path as PathMessage
    from nav_msgs.srv import GetPlan
    from rclpy.qos import DurabilityPolicy, QoSProfile
    from rclpy.serialization import deserialize_message, serialize_message
    from std_msgs.msg import String

    from tuling_fsm.ros.planner_link import PlannerLink
    from tuling_fsm.ros.route_service import SERVER_BEHAVIOUR

    road_map = read_map(COURSE)
    lanes = [road_map.lanes[lane] for lane in road_map.driving_lanes() if road_map.lanes[lane].junction is None]
    start, goal = lanes[0].center.at(5.0), lanes[len(lanes) // 2].center.at(5.0)
    planned = plan_route(road_map, start, goal)
    assert planned.route is not None
    with Rig() as rig:
        process = rig.start(
            "-m", "tuling_fsm.ros.executable", "route_server", "--ros-args", "-p", f"map_file:={COURSE}"
        )
        client = rig.node.create_client(GetPlan, "plan_route")
        rig.until(client.service_is_ready)

        def ask(raw: bytes) -> np.ndarray:
            future = client.call_async(deserialize_message(raw, GetPlan.Request))
            rig.until(future.done)
            return unpack_path(serialize_message(future.result()), "answer")[1]

        answer = ask(pack_plan_request(10**9, start, goal))
        route = match_route(road_map, answer)
        assert route is not None
        assert [stretch.lane for stretch in route.lanes] == [stretch.lane for stretch in planned.route.lanes]
        assert len(ask(pack_plan_request(10**9, start, Pose(1e5, 1e5, 0.0)))) == 0
        assert len(ask(pack_plan_request(10**9, start, Pose(float("nan"), 0.0, 0.0)))) == 0

        latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
        blocked = rig.node.create_publisher(PathMessage, "route_blocked", latched)
        rig.until(lambda: blocked.get_subscription_count() > 0)
        end = planned.route.poses()[-3:]
        blocked.publish(pack_path(10**9, end))
        rig.until(lambda: len(ask(pack_plan_request(11 * 10**8, start, goal))) != len(answer))
        assert len(ask(pack_plan_request(100 * 10**9, start, goal))) == len(answer)

        mood = rig.node.create_publisher(String, SERVER_BEHAVIOUR, latched)
        rig.until(lambda: mood.get_subscription_count() > 0)
        mood.publish(String(data="refuses"))
        rig.until(lambda: len(ask(pack_plan_request(100 * 10**9, start, goal))) == 0)
        rig.node.destroy_publisher(mood)
        rig.node.interrupted = False
        link = PlannerLink(rig.node, lambda _: None, PATIENCE_S)
        rig.until(lambda: all(p.get_subscription_count() for p in (link._preset, link._behaviour_publisher)))
        link.preset_route(None)
        link.send_frame(frame(2.0), None)
        again = ask(pack_plan_request(2 * 10**9, start, goal))
        assert len(again) == len(answer), "another run begins, for which nothing is blocked and nothing refused"
        blocked.publish(pack_path(2 * 10**9, end))
        rig.until(lambda: len(ask(pack_plan_request(21 * 10**8, start, goal))) != len(answer))
        link._preset.publish(pack_path(0, np.array([(1e5, 1e5, 0.0), (1.1e5, 1e5, 0.0)])))
        rig.until(lambda: len(ask(pack_plan_request(22 * 10**8, start, goal))) == len(answer))
        said = stop_process(process)
        assert process.returncode == 0, said


@pytest.mark.clause("USE-12")
def test_the_real_planner_configures_and_activates_with_the_parameter_file(tmp_path):
    with Rig() as rig:
        file = tmp_path / "own.yaml"
        file.write_text(
            f"planner:\n  ros__parameters:\n    map_file: {COURSE}\n    lock_step: true\n", encoding="utf-8"
        )
        files = ("--params-file", str(ROOT / "config" / "planner.yaml"), "--params-file", str(file))
        process = rig.start("-m", "tuling_fsm.ros.executable", "planner", "--ros-args", *files)
        rig.serve_routes()
        assert rig.planner.change("configure", LONG_PATIENCE_S)
        assert rig.planner.change("activate", PATIENCE_S)
        rig.send(frame(1.0))
        assert rig.until_answered(1.0).stands
        assert "departure/plan_once" in rig.call("explain").message
        said = stop_process(process)
        assert process.returncode == 0, said
