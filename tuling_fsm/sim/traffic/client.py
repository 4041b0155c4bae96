"""A client of a traffic manager that another process owns: the same names as there, over a local port (TM-4)."""

from __future__ import annotations

import contextlib
import http.client
import xmlrpc.client
from collections.abc import Callable
from typing import Any

from tuling_fsm.core.errors import InputError

HOST = "127.0.0.1"
DEFAULT_PORT = 8000
NEXT_FRAME = -1
PATIENCE_S = 30.0
"""A server that does not answer for so long has ended, or is something else."""
PLAIN = "truths, words, plain numbers (whole ones of 32 bits), and lists of them"


class _PatientTransport(xmlrpc.client.Transport):
    """Waits for an answer, but not for ever."""

    def make_connection(self, host: Any) -> http.client.HTTPConnection:
        """A connection with that patience."""
        connection = super().make_connection(host)
        connection.timeout = PATIENCE_S
        return connection


class TrafficClient:
    """Sends what is to be set; the server does it at the beginning of a frame, in one batch with that of other clients.

    Every setting of an `Autopilot` is a method here with the same arguments, as `ignore_lights_percentage(7, 50.0)`. It
    is on its way when the call returns; what the server could not do then `confirm` says. Where the server has ended,
    or another one has its port by now, every call raises an `InputError`.

    Args:
        port: of the server.
        number: of this client; in a batch the lower ones come first. Two clients may not have the same, but that of one
            that has gone is free.

    Raises:
        InputError: there is no server, or the number is taken or none.
    """

    def __init__(self, port: int = DEFAULT_PORT, number: int = 1) -> None:
        self._port = port
        self._frame = NEXT_FRAME
        self._proxy = xmlrpc.client.ServerProxy(f"http://{HOST}:{port}", _PatientTransport(), allow_none=True)
        self._token = str(self._ask("enter", number))

    def __enter__(self) -> TrafficClient:
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(InputError):  # A server that has ended is left too.
            self.leave()

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("_"):
            raise AttributeError(name)

        def send(*arguments: Any) -> None:
            self._ask("post", self._token, self._frame, name, list(arguments))

        return send

    def in_frame(self, frame: int | None) -> None:
        """Let what follows be done at the beginning of a frame; None: of the next one that comes, as at first.

        Runs repeat when every command names its frame and is there before it; otherwise the frame depends on when the
        command arrives.
        """
        self._frame = NEXT_FRAME if frame is None else frame

    def confirm(self) -> None:
        """Whether all has been done that was due.

        Raises:
            InputError: the first thing that was not.
        """
        self._ask("confirm", self._token)

    @property
    def frame(self) -> int:
        """Number of the frame that comes next."""
        return int(self._ask("frame", self._token))

    @property
    def vehicles(self) -> list[int]:
        """Numbers of the vehicles on the road when the last frame began, whichever client has registered them."""
        return [int(number) for number in self._ask("vehicles", self._token)]

    def settings(self, vehicle: int) -> dict[str, float]:
        """What was set for a vehicle when the last frame began: the columns of `RULES`, and its share of the limit.

        Raises:
            InputError: there is no such vehicle.
        """
        return dict(self._ask("settings", self._token, vehicle))

    def leave(self) -> None:
        """Give the number back, as leaving the context does: no call is answered from then on. What was set stays."""
        try:
            self._ask("leave", self._token)
        finally:
            self._proxy("close")()

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            answer = getattr(self._proxy, method)(*arguments)
        except (OSError, http.client.HTTPException, xmlrpc.client.ProtocolError) as error:
            raise InputError(f"port {self._port}", "no traffic manager, or it has ended", "a running one") from error
        except (TypeError, OverflowError) as error:
            raise InputError(f"port {self._port}", f"{arguments!r} cannot be sent", PLAIN) from error
        except xmlrpc.client.Fault as error:
            raise InputError(f"port {self._port}", error.faultString, "a traffic manager") from error
        if "refused" in answer:
            raise InputError(*answer["refused"])
        return answer["done"]
