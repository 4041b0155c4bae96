"""One traffic manager, several clients: what they set, in which order, and what they are told when it ends."""

from __future__ import annotations

import inspect
import itertools
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from patience import PATIENCE_S

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.traffic.autopilot import Autopilot, check_arguments
from tuling_fsm.sim.traffic.client import HOST, TrafficClient
from tuling_fsm.sim.traffic.server import COMMANDS, TrafficServer
from tuling_fsm.world.inputs import Light

from .flow import Flow, one

pytestmark = pytest.mark.clause("TM-4")
World = tuple[Flow, TrafficServer]


@pytest.fixture
def world(plain: RoadMap) -> Iterator[World]:
    """Four vehicles of the world's own traffic manager, which is served."""
    flow = Flow(plain, 4)
    with TrafficServer(Autopilot(flow.manager), 0, flow.lights) as server:
        yield flow, server


def test_clients_see_one_and_the_same_manager(world: World) -> None:
    flow, server = world
    one, other = TrafficClient(server.port, 1), TrafficClient(server.port, 2)
    assert one.vehicles == other.vehicles == flow.manager.ids.tolist()
    vehicle = one.vehicles[2]
    one.distance_to_leading_vehicle(vehicle, 7.0)
    other.vehicle_percentage_speed_difference(vehicle, 50.0)
    assert other.settings(vehicle)["gap"] == 2.0
    flow.step()
    assert one.settings(vehicle) == other.settings(vehicle)
    assert (other.settings(vehicle)["gap"], one.settings(vehicle)["share"]) == (7.0, 0.5)
    assert flow.fleet.rules.gap.tolist() == [2.0, 2.0, 7.0, 2.0]
    assert one.frame == other.frame == 1


def test_vehicles_that_one_client_registers_are_shared_by_all(world: World) -> None:
    flow, server = world
    one, other = TrafficClient(server.port, 1), TrafficClient(server.port, 2)
    one.register_vehicles(7, 3)
    assert len(other.vehicles) == 4
    flow.step()
    assert len(other.vehicles) == 7
    assert set(flow.fleet.car.owner.tolist()) == {0}
    other.global_distance_to_leading_vehicle(5.0)
    flow.step()
    assert flow.fleet.rules.gap.tolist() == [5.0] * 7
    assert flow.overlaps() == []


def test_vehicles_that_are_registered_keep_clear_of_egos_and_others(world: World) -> None:
    flow, server = world
    here = np.array([[20.0, 1.75], [-1.75, 60.0]])
    flow.heroes, flow.other_boxes = here[:1], one(*here[1], 0.0, 4.5, 1.8)
    TrafficClient(server.port).register_vehicles(3, 30)
    flow.step()
    car = flow.fleet.car[4:][flow.manager.on_road[4:]]
    assert len(car) > 5
    for place, room in zip(here, (flow.parameters.respawn_distance, 4.5), strict=True):
        assert np.hypot(car.x - place[0], car.y - place[1]).min() > room - 0.5


def test_every_setting_of_a_traffic_manager_can_be_called(world: World) -> None:
    flow, server = world
    client = TrafficClient(server.port)
    a, b = client.vehicles[:2]
    calls: dict[str, tuple[object, ...]] = {
        "register_vehicles": (3, 1), "set_random_device_seed": (9,), "distance_to_leading_vehicle": (a, 3.0),
        "global_distance_to_leading_vehicle": (3.0,), "vehicle_percentage_speed_difference": (a, 10.0),
        "global_percentage_speed_difference": (20.0,), "set_desired_speed": (a, None), "vehicle_lane_offset": (a, 0.2),
        "global_lane_offset": (0.1,), "ignore_lights_percentage": (a, 5.0), "ignore_signs_percentage": (a, 5.0),
        "ignore_vehicles_percentage": (a, 5.0), "ignore_walkers_percentage": (a, 5.0),
        "collision_detection": (a, b, False), "auto_lane_change": (a, False), "force_lane_change": (a, True),
        "keep_right_rule_percentage": (a, 5.0), "set_path": (a, []), "set_route": (a, ["Left"]),
        "update_vehicle_lights": (a, True), "set_hybrid_physics_mode": (True,), "set_hybrid_physics_radius": (70.0,),
        "set_respawn_dormant_vehicles": (True,), "set_boundaries_respawn_dormant_vehicles": (25.0, 700.0),
        "reset_traffic_lights": (),
    }  # fmt: skip
    assert tuple(calls) == COMMANDS
    for name, arguments in calls.items():
        getattr(client, name)(*arguments)
    flow.step()
    with pytest.raises(InputError, match="no lane on its left"):
        client.confirm()
    client.confirm()
    assert client.settings(b)["gap"] == 3.0


def test_lights_are_reset_for_all(lit: RoadMap) -> None:
    flow = Flow(lit, 2)
    with TrafficServer(Autopilot(flow.manager), 0, flow.lights) as server:
        flow.lights.force(flow.lights.numbers[0], Light.GREEN)
        TrafficClient(server.port).reset_traffic_lights()
        for _ in range(40):
            flow.step()
        alone = Flow(lit, 2)
        assert np.array_equal(flow.lights.states(2.0), alone.lights.states(2.0))


def after(road_map: RoadMap, turns: tuple[int, ...]) -> tuple[FloatArray, list[float]]:
    """The state of a world when clients send in an order of turns, and the gaps that it has in the end."""
    flow = Flow(road_map, 4)
    with TrafficServer(Autopilot(flow.manager), 0) as server:
        clients = [TrafficClient(server.port, number) for number in (1, 2, 3)]
        first = clients[0].vehicles[0]
        stop_points: list[Callable[[TrafficClient], None]] = [
            lambda client: client.distance_to_leading_vehicle(first, 4.0),
            lambda client: client.global_distance_to_leading_vehicle(6.0),
            lambda client: client.register_vehicles(5, 2),
        ]
        for turn in turns:
            clients[turn].in_frame(3)
            stop_points[turn](clients[turn])
        for _ in range(60):
            flow.step()
    car = flow.fleet.car
    return np.column_stack((car.x, car.y, car.v)), flow.fleet.rules.gap.tolist()


def test_a_batch_is_done_by_number_whatever_came_first(plain: RoadMap) -> None:
    states = [after(plain, turns) for turns in itertools.permutations((0, 1, 2))]
    for state, gaps in states:
        assert np.array_equal(state, states[0][0])
        assert gaps == [6.0, 6.0, 6.0, 6.0, 2.0, 2.0]


def test_a_command_is_done_in_the_frame_that_it_names(world: World) -> None:
    flow, server = world
    client = TrafficClient(server.port)
    client.in_frame(5)
    client.global_distance_to_leading_vehicle(9.0)
    gaps = []
    for _ in range(8):
        flow.step()
        gaps.append(float(flow.fleet.rules.gap[0]))
    assert gaps == [2.0] * 5 + [9.0] * 3


def test_what_cannot_be_done_is_said_at_once_or_when_asked(world: World) -> None:
    flow, server = world
    client = TrafficClient(server.port, 1)
    with pytest.raises(InputError, match="there is no set_wings"):
        client.set_wings(1)
    with pytest.raises(InputError, match="arguments"):
        client.global_distance_to_leading_vehicle(1.0, 2.0)
    with pytest.raises(InputError, match="number 1 is taken"):
        TrafficClient(server.port, 1)
    with pytest.raises(InputError, match="no vehicle 99"):
        client.settings(99)
    client.distance_to_leading_vehicle(99, 1.0)
    client.ignore_lights_percentage(client.vehicles[0], 101.0)
    client.global_distance_to_leading_vehicle(3.0)
    flow.step()
    for wrong in ("no vehicle 99", "101"):
        with pytest.raises(InputError, match=wrong):
            client.confirm()
    client.confirm()
    assert float(flow.fleet.rules.gap[0]) == 3.0
    client.leave()
    TrafficClient(server.port, 1).confirm()


def test_a_number_that_was_given_back_and_taken_again_is_in_order(world: World) -> None:
    flow, server = world
    for gap in (None, 5.0):
        client = TrafficClient(server.port, 1)
        client.in_frame(2)
        if gap is None:
            client.vehicle_percentage_speed_difference(None, 30.0)
        else:
            client.vehicle_percentage_speed_difference(client.vehicles[0], 10.0)
        client.leave()
    for _ in range(4):
        flow.step()
    assert flow.fleet.car.share.tolist() == pytest.approx([0.9, 0.7, 0.7, 0.7])


def test_a_number_whose_commands_fail_when_it_is_given_back_is_free(world: World) -> None:
    flow, server = world
    client = TrafficClient(server.port, 1)
    client.distance_to_leading_vehicle(99, 1.0)
    client.leave()
    flow.step()
    TrafficClient(server.port, 1).confirm()


def test_a_silent_connection_holds_up_neither_the_others_nor_the_end(plain: RoadMap) -> None:
    flow = Flow(plain, 4)
    server = TrafficServer(Autopilot(flow.manager), 0)
    with socket.create_connection((HOST, server.port)):
        asked = threading.Thread(target=lambda: TrafficClient(server.port, 1).confirm(), daemon=True)
        ended = threading.Thread(target=server.close, daemon=True)
        for thread in (asked, ended):
            thread.start()
            thread.join(PATIENCE_S)
            assert not thread.is_alive()


def test_a_server_that_never_answers_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tuling_fsm.sim.traffic.client.PATIENCE_S", 0.2)
    with socket.create_server((HOST, 0)) as silent, pytest.raises(InputError, match="no traffic manager"):
        TrafficClient(silent.getsockname()[1])


@pytest.mark.parametrize("seed", [1 << 40, np.uint32(7), {1}])
def test_what_cannot_be_sent_is_said_in_one_line(world: World, seed: Any) -> None:
    _, server = world
    with pytest.raises(InputError, match="cannot be sent"):
        TrafficClient(server.port).set_random_device_seed(seed)


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("global_distance_to_leading_vehicle", ["far"], "distance is 'far' (expected a finite number)"),
        ("global_distance_to_leading_vehicle", [float("nan")], "distance is nan"),
        ("set_desired_speed", [None, []], "speed is [] (expected a finite number or none)"),
        ("set_path", [1, [[1.0]]], "points is [[1.0]] (expected points x, y)"),
        ("set_route", [1, [7]], "turns is [7] (expected words)"),
        ("auto_lane_change", [None, "yes"], "enable is 'yes' (expected true or false)"),
        ("collision_detection", [1, 2.5, True], "other is 2.5 (expected a whole number)"),
    ],
)
def test_arguments_of_another_kind_are_refused_at_once(
    world: World, command: str, arguments: list[object], said: str
) -> None:
    flow, server = world
    client = TrafficClient(server.port)
    with pytest.raises(InputError) as refused:
        getattr(client, command)(*arguments)
    assert f"traffic.{command}: {said}" in str(refused.value)
    flow.step()
    client.confirm()


@pytest.mark.parametrize(
    ("command", "arguments", "said"),
    [
        ("set_random_device_seed", [-1], "-1 is negative"),
        ("set_desired_speed", [None, -2.0], "-2.0 is out of range"),
        ("set_boundaries_respawn_dormant_vehicles", [5, 100], "at least 20 m"),
    ],
)
def test_values_that_make_no_sense_do_not_stop_the_owner(
    world: World, command: str, arguments: list[object], said: str
) -> None:
    flow, server = world
    client = TrafficClient(server.port)
    getattr(client, command)(*arguments)
    flow.step()
    with pytest.raises(InputError, match=said):
        client.confirm()


@pytest.mark.parametrize("number", ["planner_box", None, True, 1.0])
def test_a_number_that_is_none_is_refused(world: World, number: Any) -> None:
    _, server = world
    with pytest.raises(InputError) as refused:
        TrafficClient(server.port, number)
    assert str(refused.value) == f"traffic client: number is {number!r} (expected a whole number)"


def test_a_frame_that_is_no_number_is_refused_and_none_is_the_next(world: World) -> None:
    flow, server = world
    client = TrafficClient(server.port)
    wrong: Any = "5"
    client.in_frame(wrong)
    with pytest.raises(InputError, match=r"frame is '5' .expected a whole number"):
        client.global_distance_to_leading_vehicle(9.0)
    client.in_frame(5)
    client.in_frame(None)
    client.global_distance_to_leading_vehicle(9.0)
    flow.step()
    assert flow.fleet.rules.gap.tolist() == [9.0] * 4


def test_what_breaks_a_command_is_said_to_its_client_alone(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    flow, server = world
    client, other = TrafficClient(server.port, 1), TrafficClient(server.port, 2)
    monkeypatch.setattr("xmlrpc.client.MAXINT", 10**400)  # So that a client of another language is heard.
    client.set_path(client.vehicles[0], [[10**400, 0]])
    other.global_distance_to_leading_vehicle(9.0)
    flow.step()
    assert flow.fleet.rules.gap.tolist() == [9.0] * 4
    with pytest.raises(InputError, match=r"traffic.set_path: OverflowError: .* \(in .*\)"):
        client.confirm()
    other.confirm()


def test_a_lane_change_to_where_there_is_no_lane_is_said_when_asked(two_lanes: RoadMap) -> None:
    flow = Flow(two_lanes, 1)
    with TrafficServer(Autopilot(flow.manager), 0) as server, TrafficClient(server.port) as client:
        vehicle = client.vehicles[0]
        left = bool(flow.manager.graph.lane.left[flow.fleet.path_lane[0, 0]] >= 0)
        for side in (not left, left):
            client.force_lane_change(vehicle, side)
        flow.step()
        with pytest.raises(InputError) as said:
            client.confirm()
        side_name = "right" if left else "left"
        told = f"vehicle {vehicle} has no lane on its {side_name} (expected a lane beside its own)"
        assert str(said.value) == f"traffic.force_lane_change: {told}"
        client.confirm()


def test_every_command_has_arguments_that_can_be_checked() -> None:
    for name in set(COMMANDS) - {"reset_traffic_lights"}:
        with pytest.raises(InputError, match=f"traffic.{name}: "):
            check_arguments(name, [{}, {}, {}][: len(inspect.signature(getattr(Autopilot, name)).parameters) - 1])


def test_a_port_has_one_server(world: World, plain: RoadMap) -> None:
    _, server = world
    with pytest.raises(InputError, match="in use"):
        TrafficServer(Autopilot(Flow(plain, 1).manager), server.port)


def test_when_the_server_ends_each_client_is_told_in_one_line(world: World) -> None:
    flow, server = world
    clients = [TrafficClient(server.port, number) for number in (1, 2)]
    server.close()
    for client in clients:
        with pytest.raises(InputError, match="it has ended") as said:
            client.global_distance_to_leading_vehicle(3.0)
        assert "\n" not in str(said.value)
    with pytest.raises(InputError, match="no traffic manager"):
        TrafficClient(server.port)
    flow.step()
    assert flow.fleet.rules.gap.tolist() == [2.0] * 4


def test_a_client_of_a_world_that_has_ended_is_none_of_the_next_one_on_its_port(plain: RoadMap) -> None:
    flow = Flow(plain, 4)
    with TrafficServer(Autopilot(flow.manager), 0) as server:
        client = TrafficClient(server.port, 1)
    other = Flow(plain, 4)
    with TrafficServer(Autopilot(other.manager), server.port):
        for call in (
            lambda: client.global_distance_to_leading_vehicle(9.0), client.confirm, client.leave,
            lambda: client.frame, lambda: client.vehicles, lambda: client.settings(1),
        ):  # fmt: skip
            with pytest.raises(InputError, match=r"another simulator has this port by now .*enter again"):
                call()
        other.step()
        assert other.fleet.rules.gap.tolist() == [2.0] * 4
        TrafficClient(server.port, 1).confirm()


def test_a_client_that_has_left_sets_nothing_more(world: World) -> None:
    flow, server = world
    client = TrafficClient(server.port, 1)
    client.leave()
    with pytest.raises(InputError, match="it has left"):
        client.global_distance_to_leading_vehicle(9.0)
    with pytest.raises(InputError, match="it has left"):
        client.leave()
    flow.step()
    assert flow.fleet.rules.gap.tolist() == [2.0] * 4


DYING = """
import os, signal, sys
from tuling_fsm.sim.traffic.client import TrafficClient
client = TrafficClient(int(sys.argv[1]), 5)
client.global_distance_to_leading_vehicle(8.0)
client.distance_to_leading_vehicle(99, 8.0)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_client_that_has_died_can_come_back_under_its_number(world: World) -> None:
    flow, server = world
    assert subprocess.run([sys.executable, "-c", DYING, str(server.port)], check=False).returncode == -signal.SIGKILL
    client = TrafficClient(server.port, 5)
    flow.step()
    assert flow.fleet.rules.gap.tolist() == [8.0] * 4
    client.confirm()


def test_a_client_that_is_only_silent_keeps_its_number(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    _, server = world
    monkeypatch.setattr("tuling_fsm.sim.traffic.server._Connection.timeout", 0.05)
    client = TrafficClient(server.port, 1)
    with socket.create_connection((HOST, server.port)) as silent:
        assert silent.recv(1) == b""
    with pytest.raises(InputError, match="number 1 is taken"):
        TrafficClient(server.port, 1)
    client.confirm()


def test_of_one_that_was_refused_the_owner_hears_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _, server = world
    monkeypatch.setattr("tuling_fsm.sim.traffic.server._Connection.timeout", 0.05)
    client = TrafficClient(server.port, 1)
    client.leave()
    with pytest.raises(InputError, match="it has left"):
        client.confirm()
    ended = client._proxy("transport")._connection[1].sock.recv(1)
    assert (ended, capsys.readouterr().err) == (b"", "")


def test_one_whose_number_has_been_taken_over_sets_nothing_more(world: World) -> None:
    _, server = world
    client = TrafficClient(server.port, 1)
    client._proxy("close")()
    other = TrafficClient(server.port, 1)
    with pytest.raises(InputError, match="its number has been taken over"):
        client.global_distance_to_leading_vehicle(9.0)
    other.confirm()


def test_a_client_leaves_with_its_context(world: World) -> None:
    _, server = world
    with TrafficClient(server.port, 1) as client, pytest.raises(InputError, match="number 1 is taken"):
        TrafficClient(server.port, 1)
    with pytest.raises(InputError, match="it has left"):
        client.confirm()
    with TrafficClient(server.port, 1):
        server.close()


CLIENT = """
import sys
from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.traffic.client import TrafficClient
client = TrafficClient(int(sys.argv[1]), 5)
client.distance_to_leading_vehicle(client.vehicles[0], 8.0)
print("sent", flush=True)
sys.stdin.readline()
try:
    client.confirm()
except InputError as error:
    print(error)
"""


def test_a_client_in_another_process_is_told_too(world: World) -> None:
    flow, server = world
    command = [sys.executable, "-c", CLIENT, str(server.port)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "sent\n"
        flow.step()
        assert float(flow.fleet.rules.gap[0]) == 8.0
        server.close()
        said, _ = process.communicate("go on\n", timeout=PATIENCE_S)
    assert said.splitlines() == [f"port {server.port}: no traffic manager, or it has ended (expected a running one)"]
