"""One traffic manager for several clients: the process that owns it serves it on a local port (TM-4).

Clients may send at any time; everything is done by the owner, at the beginning of a frame, in the order of the clients'
numbers and of what each has sent. So a batch has the same effect however its commands came in.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
import socket
import socketserver
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from xmlrpc.server import SimpleXMLRPCRequestHandler, SimpleXMLRPCServer

import numpy as np

from tuling_fsm.core.errors import InputError, in_one_line
from tuling_fsm.sim.environment.traffic_lights import TrafficLights
from tuling_fsm.sim.traffic.autopilot import FITTING, Autopilot, check_arguments
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
"""A connection by which no client has entered is closed when nothing is asked on it for so long."""


@dataclass
class _Client:
    """One that has entered: its number, the connection on which it asks, and what could not be done for it."""

    number: int
    connection: socket.socket
    wrong: list[InputError] = field(default_factory=list)

    @property
    def gone(self) -> bool:
        """Whether it has closed its connection: its process has ended, however that was, or has dropped it."""
        try:
            return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return False
        except OSError:
            return True


class _Command(NamedTuple):
    """A command of a client; `number` counts all that have come."""

    client: _Client
    number: int
    frame: int
    name: str
    arguments: tuple[Any, ...]

    @property
    def turn(self) -> tuple[int, int]:
        """In a batch the commands come in this order."""
        return self.client.number, self.number


class _Connection(SimpleXMLRPCRequestHandler):
    """What one client asks, on one connection for as long as it is there."""

    protocol_version = "HTTP/1.1"
    timeout = SILENT_S
    server: _ConnectionServer

    def _dispatch(self, method: str, params: Iterable[Any]) -> Any:
        return self.server._dispatch(method, (self.connection, *params))

    def log_message(self, *_: Any) -> None:
        """What is wrong with a connection, as that nobody asks on it any more, is nothing to report."""


class _ConnectionServer(socketserver.ThreadingMixIn, SimpleXMLRPCServer):
    """Every connection has a thread of its own: one that is silent holds up neither the others nor the end."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A connection that breaks off is the end of a client, and nothing to report."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


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
        self._name = secrets.token_hex(8)
        """Begins the tokens of this server, so that a client of another one that had the port is told from its own."""
        self._clients: dict[str, _Client] = {}
        """Those that have entered, by the token that each of their calls bears."""
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
        self._server.register_function(self._answering(self._enter), "enter")
        for method in (self._post, self._confirm, self._asked_frame, self._asked_vehicles, self._asked_settings):
            name = method.__name__.removeprefix("_asked").strip("_")
            self._server.register_function(self._answering(self._of_client(method)), name)
        self._server.register_function(self._answering(self._leave), "leave")
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
        with self._lock:
            for client in self._clients.values():
                with contextlib.suppress(OSError):  # Its own side has closed it.
                    client.connection.shutdown(socket.SHUT_RDWR)

    # In the threads of the server: they only touch what the lock guards.

    def _answering(self, method: Callable[..., Any]) -> Callable[..., Answer]:
        def answer(connection: socket.socket, *arguments: Any) -> Answer:
            with self._lock:
                try:
                    if not self._thread.is_alive():
                        raise InputError(f"port {self.port}", "the traffic manager has ended", "a running one")
                    return {"done": method(connection, *arguments)}
                except InputError as error:
                    return {"refused": [error.where, error.what, error.expected]}

        return answer

    def _of_client(self, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method of a client as it is called: with the client's token."""

        def called(connection: socket.socket, token: str, *arguments: Any) -> Any:
            client = self._entered(token)
            client.connection = _kept_open(connection)
            return method(client, *arguments)

        return called

    def _entered(self, token: str) -> _Client:
        if token not in self._clients:
            left = token.startswith(self._name)
            what = (
                "it has left, or its number has been taken over" if left else "another simulator has this port by now"
            )
            raise InputError("traffic client", what, "a client that has entered here: enter again")
        return self._clients[token]

    def _enter(self, connection: socket.socket, number: int) -> str:
        """The token for all further calls."""
        _check_whole("number", number)
        namesakes = {token: client for token, client in self._clients.items() if client.number == number}
        if not all(client.gone for client in namesakes.values()):
            raise InputError("traffic client", f"number {number} is taken", "a number of its own")
        for token in namesakes:
            del self._clients[token]
        token = f"{self._name} {next(self._numbers)}"
        self._clients[token] = _Client(number, _kept_open(connection))
        return token

    def _leave(self, _: socket.socket, token: str) -> bool:
        self._entered(token)
        del self._clients[token]
        return True

    def _post(self, client: _Client, frame: int, name: str, arguments: list[Any]) -> bool:
        if name not in COMMANDS:
            raise InputError("traffic client", f"there is no {name}", "a setting of the traffic manager")
        _check_whole("frame", frame)
        if name != "reset_traffic_lights":
            check_arguments(name, arguments)
        self._commands.append(_Command(client, next(self._numbers), frame, name, tuple(arguments)))
        return True

    def _confirm(self, client: _Client) -> bool:
        if client.wrong:
            raise client.wrong.pop(0)
        return True

    def _asked_frame(self, _: _Client) -> int:
        return self._frame

    def _asked_vehicles(self, _: _Client) -> list[int]:
        return self._vehicles

    def _asked_settings(self, _: _Client, vehicle: int) -> dict[str, float]:
        if vehicle not in self._settings:
            raise InputError("traffic", f"no vehicle {vehicle} of this traffic manager", "one of its vehicles")
        return self._settings[vehicle]

    # In the thread of the owner.

    def _apply_due(self, frame: int, stamp: float) -> None:
        """Do what is due in this frame. Whatever is wrong with it is its client's to hear of, and nobody else's."""
        with self._lock:
            due = sorted((each for each in self._commands if each.frame <= frame), key=lambda each: each.turn)
            self._commands = [command for command in self._commands if command.frame > frame]
            for command in due:
                try:
                    self._apply(command, stamp)
                except Exception as error:
                    command.client.wrong.append(_told(command.name, error))
            self._frame = frame + 1
            self._publish()

    def _apply(self, command: _Command, stamp: float) -> None:
        if command.name == "force_lane_change":
            vehicle, left = command.arguments
            if not self._pilot.force_lane_change(vehicle, left):
                what = f"vehicle {vehicle} has no lane on its {'left' if left else 'right'}"
                raise InputError("traffic.force_lane_change", what, "a lane beside its own")
        elif command.name != "reset_traffic_lights":
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


def _kept_open(connection: socket.socket) -> socket.socket:
    """A connection that may be silent: when it is closed, its client has gone."""
    connection.settimeout(None)
    return connection


def _check_whole(name: str, value: Any) -> None:
    fits, expected = FITTING["int"]
    if not fits(value):
        raise InputError("traffic client", f"{name} is {value!r}", expected)


def _told(name: str, error: Exception) -> InputError:
    """What a client hears of a command that could not be done."""
    if isinstance(error, InputError):
        return error
    return InputError(f"traffic.{name}", in_one_line(error), "arguments with which it can be done")
