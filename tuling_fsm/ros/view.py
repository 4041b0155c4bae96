"""The node `view`: the page of a drive that goes on, fed from the topics of the planner and of what it is told."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType

from tuling_fsm.bag.writer import RESULT
from tuling_fsm.core.parameters import describe, load
from tuling_fsm.core.topics import BY_NAME, INPUTS, Qos
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.ros.node_parameters import VIEW_SAYS, ViewNodeParameters, in_home, required_file
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.ros.served_node import ServedNode
from tuling_fsm.viewer.live.patches import LiveFilm, LiveSource
from tuling_fsm.viewer.live.server import LiveServer

PATCH_S = 0.1
CLOSING_S = 2.0
"""How long pages are given to take the rest, s."""
DEPTH = 50
"""Messages of a topic that wait for this node; what does not find room is not shown."""
FIRST = "trajectory"
"""What sends inputs may wait for the planner to listen: this node listens to them only after it has answered."""
_SHOWN = ("route_blocked", "state", "transition", "why", "sensors", "indicators", "markers")
_SAID_EVERY_S = 30.0


class ViewNode(ServedNode):
    """Everything is done by `LiveFilm` and `LiveServer`; here they only meet DDS.

    It listens as best it can: what is not latched it takes unreliably, so that no sender ever waits for it.

    Raises:
        InputError: the map cannot be used, nothing can listen at the address, or a parameter is bad.
    """

    def __init__(self) -> None:
        super().__init__("view", automatically_declare_parameters_from_overrides=True)
        self.interruptible = False
        settings = ParameterServer(self, describe(ViewNodeParameters))
        self._own = own = in_home(load(ViewNodeParameters, settings.values))
        road_map = read_map(required_file("map_file", own.map_file))
        title = own.title or road_map.name
        self._server = LiveServer(title, own.host, own.port)
        self._film = LiveFilm(LiveSource(title, own.out or "BAG", road_map), self._server.begin_anew)
        self._listen(FIRST)
        self._others = [*(topic.name for topic in INPUTS), *_SHOWN]
        self.create_timer(PATCH_S, self._patch, clock=Clock(clock_type=ClockType.STEADY_TIME))
        print(f"{VIEW_SAYS}{self._server.url}", flush=True)

    def stop(self) -> None:
        """Pages get the rest."""
        self._patch(_result_in(self._own.out))
        self._server.close(CLOSING_S)

    def _listen(self, name: str) -> None:
        topic = BY_NAME[name]
        qos = topic.qos if topic.qos.latched else Qos(reliable=False, depth=DEPTH)
        self.create_subscription(message_class(topic.type), name, partial(self._take, name), profile(qos), raw=True)

    def _take(self, name: str, raw: bytes) -> None:
        others, self._others = self._others, []
        for other in others:
            self._listen(other)
        self._film.take(name, raw)

    def _patch(self, result: dict[str, Any] | None = None) -> None:
        patch = self._film.patch(result)
        if patch is not None:
            self._server.log.append(patch)
        elif not self._others:
            self.get_logger().warning("no odometry in map: nothing is shown", throttle_duration_sec=_SAID_EVERY_S)


def _result_in(folder: str) -> dict[str, Any] | None:
    """`result.json`, where a simulated run has left one."""
    try:
        result = json.loads((Path(folder) / RESULT).read_text(encoding="utf-8")) if folder else None
    except (OSError, ValueError):
        return None
    return result if isinstance(result, dict) else None
