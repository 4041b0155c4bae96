"""The lifecycle node `planner`: messages in, one tick of the agent, messages out."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING

from nav_msgs.srv import GetPlan
from rclpy.clock import Clock, ClockType
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from std_srvs.srv import Trigger

from tuling_fsm.bag.replay import MAP_SHA256, map_record, state_of
from tuling_fsm.bag.saved_state import code_version, go_on, load_state, map_identity
from tuling_fsm.bag.writer import BagWriter, set_aside
from tuling_fsm.compiling import PLANNER_PARTS, compile_kernels
from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.core.errors import InputError, in_one_line
from tuling_fsm.core.parameters import Scalar, flatten, load, nest
from tuling_fsm.core.topics import BY_NAME, INPUTS, OUTPUTS, Qos
from tuling_fsm.progress import Report
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.node_parameters import PlannerNodeParameters, in_home, planner_specs, read_mission, required_file
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.planning_cycle import Acknowledge, Output, PendingRouteRequest, PlanningCycle
from tuling_fsm.ros.qos import acknowledged, message_class, profile, waiting
from tuling_fsm.ros.route_client import RouteClient
from tuling_fsm.ros.served_node import ServedNode
from tuling_fsm.wire.diagnostics import DiagnosticStatus, pack_diagnostics
from tuling_fsm.wire.inputs import OPERATOR

if TYPE_CHECKING:
    from tuling_fsm.agent import Agent, Parameters
    from tuling_fsm.behaviour.decision import BehaviourRecord
    from tuling_fsm.map.road_map import RoadMap

_OWN = tuple(PlannerNodeParameters.__dataclass_fields__)
_TIMER_S = 0.05
_SERVER_S = 10.0
"""In lock-step the route server is waited for on activation."""
_LOCK_STEP_ACK_S = 30.0
"""In lock-step what has to arrive before the plan is waited for, on a machine that stalls too."""
_LAST_ACK_S = 0.2
"""The last stop is waited for."""
INACTIVE = "the planner is not active"
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
Transition = Callable[["PlannerNode", LifecycleState], TransitionCallbackReturn]


def logged(transition: Transition) -> Transition:
    """rclpy turns an exception in a transition into an error without a word; this says which. A signal that ends a long
    one is no error.
    """

    @wraps(transition)
    def call(node: PlannerNode, state: LifecycleState) -> TransitionCallbackReturn:
        node.interruptible = not node.ticking  # In a long transition without a car to stop.
        try:
            return transition(node, state)
        except SystemExit:
            return FAILURE
        except Exception as error:
            node.get_logger().error(f"{transition.__name__}: {in_one_line(error)}")
            return TransitionCallbackReturn.ERROR
        finally:
            node.interruptible = False

    return call


@dataclass(frozen=True)
class PlannerFactory:
    """What the node drives: how its parameters are declared, how a map is read, and how an agent is made of both."""

    parameters: type[Parameters]
    read_map: Callable[[Path], RoadMap]
    make_agent: Callable[[RoadMap, Parameters], Agent]
    compile: Callable[[Report], None] = lambda report: None


def planner_factory() -> PlannerFactory:
    """The product's own agent and map reader."""
    from tuling_fsm.agent import Agent, Parameters
    from tuling_fsm.map.opendrive import read_map

    return PlannerFactory(Parameters, read_map, Agent, partial(compile_kernels, tuple(PLANNER_PARTS)))


class PlannerNode(ServedNode, LifecycleNode):
    """Its topics are in `core.topics`. What comes in goes to the inbox always; from activation to deactivation the
    planning cycle says what is to be done on it.

    Args:
        factory: what makes its agent.

    Raises:
        InputError: a parameter is unknown, of the wrong type or out of range.
    """

    def __init__(self, factory: PlannerFactory) -> None:
        super().__init__("planner", automatically_declare_parameters_from_overrides=True)
        self.interruptible = False
        self.hurried = True
        self._factory = factory
        self._cycle: PlanningCycle | None = None
        self._routes: RouteClient | None = None
        self._settings = ParameterServer(self, planner_specs(factory.parameters), self._load)
        self._settings.fixed = False

    @logged
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read parameters and map, compile, make the topics; what is wrong is said in one line."""
        began = time.perf_counter()
        try:
            self._own, self._agent_parameters = self._read_parameters()
            map_file = required_file("map_file", self._own.map_file)
            self._map, self._map_record = self._factory.read_map(map_file), map_record(map_file)
            self._map_identity = map_identity(map_file, self._map_record[MAP_SHA256])
            mission = read_mission(self._own.mission_file) if self._own.mission_file else None
            self._warm_up()
        except (InputError, OSError) as error:
            self.get_logger().error(f"cannot configure: {error}")
            return FAILURE
        self._inbox = Inbox(self.get_logger().warning, mission)
        self._connect()
        gc.collect()
        gc.freeze()
        self.get_logger().info(f"configured in {time.perf_counter() - began:.1f} s")
        return SUCCESS

    @logged
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start anew, or where the state was kept if that is asked for, ticking on odometry."""
        assert self._routes is not None
        agent = self._factory.make_agent(self._map, self._agent_parameters)
        try:
            bag = self._open_bag(self._resume(agent))
        except InputError as error:
            self.get_logger().error(f"cannot activate: {error}")
            return FAILURE
        if self._own.lock_step and not self._routes.wait(_SERVER_S):
            self.get_logger().warning("no route server yet")
        result = super().on_activate(state)
        clock, publishers = self.get_clock(), self._published
        self._cycle = PlanningCycle(
            agent,
            self._inbox,
            self._own,
            self.get_logger(),
            lambda: int(clock.now().nanoseconds),
            lambda topic: bool(publishers[topic].get_subscription_count()),
            bag,
            left_hand=self._map.left_hand,
            road_map=self._map_identity,
            name=self._full_name,
        )
        return result

    @logged
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the car, then stop ticking."""
        self.stop()
        return super().on_deactivate(state)

    @logged
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Give up topics and map."""
        self._disconnect()
        return SUCCESS

    @logged
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """From any state: stop the car, give everything up, and end the process."""
        self.stop()
        self._disconnect()
        self.finished = True
        return SUCCESS

    @logged
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After a transition that failed half-way: stop the car, and back to unconfigured."""
        self.get_logger().info("unconfigured now")
        self.stop()
        self._disconnect()
        return SUCCESS

    @property
    def _full_name(self) -> str:
        """With its namespace: `/diagnostics` is one topic for all cars."""
        return str(self.get_fully_qualified_name()).lstrip("/")

    @property
    def ticking(self) -> bool:
        """Whether there is a car to stop."""
        return self._cycle is not None

    def stop(self) -> None:
        """Tell the car to stop, and stop ticking; nothing where the node is not active."""
        if self._cycle is not None:
            try:
                self._do(self._cycle.halt())
            finally:
                self._cycle = None
                if self._routes is not None:
                    self._routes.forget()

    def _connect(self) -> None:
        """Make all topics, services, clients and timers."""
        self._published = {
            topic.name: self.create_lifecycle_publisher(message_class(topic.type), topic.name, profile(topic.qos))
            for topic in OUTPUTS
        }
        self._subscribed = {
            topic.name: self.create_subscription(
                message_class(topic.type),
                topic.name,
                partial(self._receive, topic.name),
                profile(Qos(True, topic.qos.depth, topic.qos.latched) if self._own.lock_step else topic.qos),
                raw=True,
            )
            for topic in INPUTS
        }
        self._offered = [self.create_service(Trigger, f"~/{name}", partial(self._call, name)) for name in OPERATOR]
        self._offered.append(self.create_service(Trigger, "~/explain", self._explain))
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = self.create_timer(_TIMER_S, self._poll, clock=steady)
        self._alarm = self.create_timer(_TIMER_S, self._rested, clock=steady)
        self._alarm.cancel()
        client = self.create_client(GetPlan, "plan_route")
        self._routes = RouteClient(client, self._answered, self.get_logger().warning)
        self._settings.fixed = True

    def _disconnect(self) -> None:
        """End all of them."""
        routes, self._routes = self._routes, None
        if routes is not None:
            self.destroy_timer(self._timer)
            self.destroy_timer(self._alarm)
            for service in self._offered:
                self.destroy_service(service)
            for subscription in self._subscribed.values():
                self.destroy_subscription(subscription)
            for publisher in self._published.values():
                self.destroy_lifecycle_publisher(publisher)
            self.destroy_client(routes.close())
            self._settings.fixed = False
        gc.unfreeze()

    def _receive(self, topic: str, raw: bytes) -> None:
        """A message has come. A queue of several is emptied with it: no tick is to come before what waits in it."""
        cycle, queued = self._present(), BY_NAME[topic].qos.depth > 1
        for message in (raw, *(waiting(self._subscribed[topic]) if queued else ())):
            if cycle is None:
                self._inbox.receive(topic, message)
            else:
                self._do(cycle.receive(topic, message))

    def _answered(self, number: int, points: FloatArray | None) -> None:
        cycle = self._present()
        if cycle is not None:
            self._do(cycle.answer(number, points))

    def _poll(self) -> None:
        cycle = self._present()
        if cycle is not None and self._routes is not None:
            self._routes.give_up(self._own.route_timeout)
            other_publishers = self.count_publishers(self._published["trajectory"].topic_name) - 1
            self._do(cycle.timer(max(int(other_publishers), 0)))

    def _rested(self) -> None:
        self._alarm.cancel()
        cycle = self._present()
        if cycle is not None:
            cycle.rested()

    def _call(self, name: str, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        cycle = self._present()
        response.success, response.message = (False, INACTIVE) if cycle is None else cycle.call(name)
        return response

    def _explain(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        cycle = self._present()
        response.success = cycle is not None
        response.message = INACTIVE if cycle is None else cycle.explanation()
        return response

    def _present(self) -> PlanningCycle | None:
        """The planning cycle, with the parameters that have been set since they were read (USE-12)."""
        if self._cycle is not None and self._settings.changed:
            self._own, self._agent_parameters = self._read_parameters()
            self._cycle.reconfigure(self._own, self._agent_parameters)
        return self._cycle

    def _do(self, outputs: Iterable[Output]) -> None:
        """Send what is to be sent; in lock-step nothing more once something that is needed does not arrive."""
        assert self._routes is not None
        for output in outputs:
            if isinstance(output, tuple):
                topic, message = output
                self._published[topic].publish(message)
            elif isinstance(output, Acknowledge):
                if not self._arrived(output):
                    return
            elif isinstance(output, PendingRouteRequest):
                self._routes.ask(output.ns, output.request)
            else:
                self._alarm.timer_period_ns = round(1e9 * output.seconds)
                self._alarm.reset()

    def _arrived(self, sent: Acknowledge) -> bool:
        """Wait until subscribers have it; without what is needed the node ends with an error."""
        within_s = _LOCK_STEP_ACK_S if sent.needed else _LAST_ACK_S
        for topic in sent.topics:
            if acknowledged(self._published[topic], within_s, lambda: self.interrupted):
                continue
            said = f"{topic}: a subscriber does not take what is sent"
            if sent.needed and not self.interrupted:
                self.get_logger().error(f"{said} within {within_s:g} s; a run in lock-step would not repeat")
                self.finished, self.exit_code = True, 1
                return False
            self.get_logger().warning(said)
        return True

    def _read_parameters(self) -> tuple[PlannerNodeParameters, Parameters]:
        self._settings.changed = False
        return self._load(self._settings.values)

    def _load(self, values: Mapping[str, Scalar]) -> tuple[PlannerNodeParameters, Parameters]:
        own = in_home(load(PlannerNodeParameters, {name: values[name] for name in _OWN}))
        rest = {name: value for name, value in values.items() if name not in _OWN}
        return own, load(self._factory.parameters, nest(rest))

    def _warm_up(self) -> None:
        if self._own.state_file:
            code_version()
        topic = BY_NAME["/diagnostics"]
        diagnostics = self.create_publisher(message_class(topic.type), topic.name, profile(topic.qos))
        name = self._full_name

        def tell(text: str) -> None:
            self.get_logger().info(text, throttle_duration_sec=5.0)
            diagnostics.publish(
                pack_diagnostics(self.get_clock().now().nanoseconds, (DiagnosticStatus(name, text),), name)
            )

        self._factory.compile(tell)
        self.destroy_publisher(diagnostics)
        self._factory.make_agent(self._map, self._agent_parameters).warm_up()

    def _resume(self, agent: Agent) -> BehaviourRecord | None:
        """Go on from the kept state, where that is asked for and there is one; returns it, else None.

        Raises:
            InputError: it cannot be used.
        """
        own = self._own
        if not (own.resume and own.state_file and Path(own.state_file).exists()):
            return None
        record: BehaviourRecord = load_state(own.state_file, self._map_identity)
        go_on(agent, record, own.state_file)
        self.get_logger().warning(f"going on from {own.state_file}")
        return record

    def _open_bag(self, record: BehaviourRecord | None) -> BagWriter | None:
        """The bag that is asked for; the state that was gone on from is at its head.

        What was recorded in the folder before is kept, unless it is a simulated run to be driven anew.
        """
        if not self._own.record:
            return None
        restored = {} if record is None else state_of(record, Path(self._own.map_file).resolve())
        keeps = record is not None or not self._own.lock_step
        if keeps and (aside := set_aside(self._own.record)) is not None:
            self.get_logger().info(f"what was recorded before is in {aside}")
        run = {**self._map_record, "parameters": flatten(self._agent_parameters), **restored}
        return BagWriter(self._own.record, run)
