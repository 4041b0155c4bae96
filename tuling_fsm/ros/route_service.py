"""The node `route_server`: the service `plan_route` around the map's routing, with blocks and a preset route."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from nav_msgs.srv import GetPlan
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.service import Service

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import describe, load
from tuling_fsm.core.topics import LATCHED, PATH, STRING
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.routing import match_route
from tuling_fsm.ros.node_parameters import RouteServerParameters, in_home, required_file
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.ros.served_node import ServedNode
from tuling_fsm.sim.environment.route_server import RouteServer, ServerLink
from tuling_fsm.sim.scenario.choices import ServerBehaviour
from tuling_fsm.sim.scenario.commands import SetRouteServer
from tuling_fsm.wire.cdr import seconds, stamp_ns, time_ns
from tuling_fsm.wire.paths import pack_path, unpack_path
from tuling_fsm.wire.plan import unpack_plan_request
from tuling_fsm.wire.text import unpack_string
from tuling_fsm.world.inputs import RouteRequest

SERVER_BEHAVIOUR = "route_server_mood"
"""Latched String of `sim`, one of `ServerBehaviour`: how a scenario wants questions to be answered."""


class RouteServiceNode(ServedNode):
    """Answers with an empty path where there is no route or the question is malformed.

    Blocks and questions are dated by the stamps of their messages, so that a simulated run repeats.

    Raises:
        InputError: the map cannot be used, or a parameter is bad.
    """

    def __init__(self) -> None:
        super().__init__("route_server", automatically_declare_parameters_from_overrides=True)
        settings = ParameterServer(self, describe(RouteServerParameters))
        own = in_home(load(RouteServerParameters, settings.values))
        self._map = read_map(required_file("map_file", own.map_file))
        self._link = ServerLink(self._map, RouteServer(self._map))
        self._asked = 0
        for topic, receive in (("route_blocked", self._block), ("preset_route", self._preset)):
            receive_safely = partial(self._receive, topic, receive)
            self.create_subscription(message_class(PATH), topic, receive_safely, profile(LATCHED), raw=True)
        self.create_subscription(
            message_class(STRING), SERVER_BEHAVIOUR, self._change_behaviour, profile(LATCHED), raw=True
        )
        self._service: Service | None = self.create_service(GetPlan, "plan_route", self._answer)
        self.get_logger().info(f"serving routes on {own.map_file}")

    def _receive(self, topic: str, receive: Callable[[bytes, FloatArray], None], raw: bytes) -> None:
        try:
            receive(raw, unpack_path(raw, topic)[1])
        except InputError as error:
            self.get_logger().warning(str(error))

    def _change_behaviour(self, raw: bytes) -> None:
        """Answer otherwise from now on; a server that is away offers no service."""
        try:
            behaviour = ServerBehaviour(unpack_string(raw, SERVER_BEHAVIOUR))
        except (InputError, ValueError) as error:
            self.get_logger().warning(f"{SERVER_BEHAVIOUR}: {error}")
            return
        self._link.apply(SetRouteServer(behaviour))
        if behaviour is ServerBehaviour.AWAY and self._service is not None:
            self.destroy_service(self._service)
            self._service = None
        elif behaviour is not ServerBehaviour.AWAY and self._service is None:
            self._service = self.create_service(GetPlan, "plan_route", self._answer)

    def _block(self, raw: bytes, points: FloatArray) -> None:
        self._link.server.report_block(points, seconds(stamp_ns(raw)))

    def _preset(self, _: bytes, points: FloatArray) -> None:
        """Begin anew, with the route of another run, or none where it is empty or follows no lanes."""
        route = match_route(self._map, points) if len(points) else None
        self._link.server = RouteServer(self._map, route)
        if route is None and len(points):
            raise InputError("preset_route", "follows no lanes of the map", "a route on it")

    def _answer(self, request: GetPlan.Request, _: GetPlan.Response) -> GetPlan.Response:
        self._asked += 1
        ns = 0
        points: FloatArray = np.zeros((0, 3))
        try:
            ns = time_ns(request.start.header.stamp, "plan_route")
            start, goal = unpack_plan_request(serialize_message(request))
            question = RouteRequest(self._asked, "", start, goal)
            found = self._link.ask(question, seconds(ns))
            if found is not None:
                points = found.answer.points
        except InputError as error:
            self.get_logger().warning(str(error))
        return deserialize_message(pack_path(ns, points), GetPlan.Response)
