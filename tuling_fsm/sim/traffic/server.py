"""One traffic manager for several clients: the process that owns it serves it on a local port (TM-4).

Clients may send at any time; everything is done by the owner, at the beginning of a frame, in the order of the clients'
numbers and of what each has sent. So a batch has the same effect however its commands came in.
"""

from __future__ import annotations

import itertools
import socketserver
import threading
from collections.abc import Callable
from typing import Any, NamedTuple
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer

import numpy as np

from tuling_fsm.core.errors import InputError
from tuling_fsm.sim.environment.traffic_lights import TrafficLights
from tuling_fsm.sim.traffic.autopilot import Autopilot, check_arguments
from tuling_fsm.sim.traffic.client import DEFAULT_PORT, HOST
from tuling_fsm.sim.traffic.fleet import RULES

COMMANDS = (
    "register_vehicles", "set_random_device_seed", "distance_to_leading_vehicle", "global_distance_to_leading_vehicle",
    "vehicle_percentage_speed_difference", "global_percentage_speed_difference", "set_desired_speed",
    "vehicle_lane_offset", "global_lane_offset", "ignore_lights_percentage", "ignore_signs_percentage",
    "ignore_vehicles_percentage", "ignore_walkers_percentage", "collision_detection", "auto_lane_change",
    "force_lane_change", "keep_right_rule_percentage", "set_path", "set_route", "update_vehicle_lights",
    "set_hybrid_physics_mode", "set_hybrid_physics_radius", "set_respawn_dormant_vehicles",
    "set_boundaries_respawn_dormant_vehicles", "reset_traffic_lights",
)  # fmt: skip
"""What clients may call, by the names of `Autopilot`; `reset_traffic_lights` has no arguments for them."""
Answer = dict[str, Any]
SILENT_S = 5.0
"""A connection on which nothing is asked for so long is closed."""


class _Command(NamedTuple):
    """A command of a client; `number` counts all that have come."""

    client: int
    number: int
    frame: int
    name: str
    arguments: tuple[Any, ...]

    @property
    def turn(self) -> tuple[int, int]:
        """In a batch the commands come in this order."""
        return self.client, self.number


class _Connection(SimpleXMLRPCRequestHandler):
    """What one client asks."""

    timeout = SILENT_S


class _ConnectionServer(socketserver.ThreadingMixIn, SimpleXMLRPCServer):
    """Every connection has a thread of its own: one that is silent holds up neither the others nor the end."""

    daemon_threads = True


class TrafficServer:
    """Serves the vehicles of one owner in the traffic, from its making to `close`, or to the end of the process.

    Args:
        pilot: the traffic manager that is shared.
        port: 0 for any that is free; see `port`.
        lights: of the world, for clients that reset them.

    Raises:
        InputError: the port is in use.
    """

    def __init__(self, pilot: Autopilot, port: int = DEFAULT_PORT, lights: TrafficLights | None = None) -> None:
        self._pilot, self._lights = pilot, lights
        self._lock = threading.Lock()
        self._clients: dict[int, list[InputError]] = {}
        """Numbers of the clients, and what could not be done for each."""
        self._commands: list[_Command] = []
        self._numbers = itertools.count()
        self._frame = 0
        self._vehicles: list[int] = []
        self._settings: dict[int, dict[str, float]] = {}
        try:
            self._server = _ConnectionServer((HOST, port), _Connection, logRequests=False, allow_none=True)
        except OSError as error:
            raise InputError(f"port {port}", "it is in use", "a free port, or a client of the server there") from error
        self.port = int(self._server.server_address[1])
        for method in (self._enter, self._leave, self._post, self._confirm, self._asked_frame, self._asked_vehicles,
                       self._asked_settings):  # fmt: skip
            self._server.register_function(self._answering(method), method.__name__.removeprefix("_asked").strip("_"))
        self._publish()
        pilot.traffic.before_frame.append(self._apply_due)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()

    def __enter__(self) -> TrafficServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End: clients get an error from now on, the vehicles drive on as they were told."""
        if not self._thread.is_alive():
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
        self._pilot.traffic.before_frame.remove(self._apply_due)

    # In the threads of the server: they only touch what the lock guards.

    def _answering(self, method: Callable[..., Any]) -> Callable[..., Answer]:
        def answer(*arguments: Any) -> Answer:
            with self._lock:
                try:
                    return {"done": method(*arguments)}
                except InputError as error:
                    return {"refused": [error.where, error.what, error.expected]}

        return answer

    def _enter(self, client: int) -> bool:
        if client in self._clients:
            raise InputError("traffic client", f"number {client} is taken", "a number of its own")
        self._clients[client] = []
        return True

    def _leave(self, client: int) -> bool:
        self._clients.pop(client, None)
        return True

    def _post(self, client: int, frame: int, name: str, arguments: list[Any]) -> bool:
        if name not in COMMANDS:
            raise InputError("traffic client", f"there is no {name}", "a setting of the traffic manager")
        if name != "reset_traffic_lights":
            check_arguments(name, arguments)
        self._commands.append(_Command(client, next(self._numbers), frame, name, tuple(arguments)))
        return True

    def _confirm(self, client: int) -> bool:
        wrong = self._clients.get(client, [])
        if wrong:
            raise wrong.pop(0)
        return True

    def _asked_frame(self) -> int:
        return self._frame

    def _asked_vehicles(self) -> list[int]:
        return self._vehicles

    def _asked_settings(self, vehicle: int) -> dict[str, float]:
        if vehicle not in self._settings:
            raise InputError("traffic", f"no vehicle {vehicle} of this traffic manager", "one of its vehicles")
        return self._settings[vehicle]

    # In the thread of the owner.

    def _apply_due(self, frame: int, stamp: float) -> None:
        """Do what is due in this frame."""
        with self._lock:
            due = sorted((each for each in self._commands if each.frame <= frame), key=lambda each: each.turn)
            self._commands = [command for command in self._commands if command.frame > frame]
            for command in due:
                try:
                    self._apply(command, stamp)
                except InputError as error:
                    if command.client in self._clients:
                        self._clients[command.client].append(error)
            self._frame = frame + 1
            self._publish()

    def _apply(self, command: _Command, stamp: float) -> None:
        if command.name != "reset_traffic_lights":
            getattr(self._pilot, command.name)(*command.arguments)
        elif self._lights is None:
            raise InputError("traffic.reset_traffic_lights", "this server has no lights", "a world with lights")
        else:
            self._pilot.reset_traffic_lights(self._lights, stamp)

    def _publish(self) -> None:
        """What clients see until the next frame."""
        traffic, mine = self._pilot.traffic, self._pilot.rows
        rules, car, ids = traffic.fleet.rules, traffic.fleet.car, traffic.ids
        rows = np.flatnonzero(mine & traffic.on_road).tolist()
        self._vehicles = [int(ids[row]) for row in rows]
        self._settings = {
            int(ids[row]): {name: float(rules[name][row]) for name in RULES.names or ()}
            | {"share": float(car.share[row])}
            for row in rows
        }
