"""The lifecycle node `planner`: messages in, one tick of the agent, messages out."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any

from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from tuling_fsm.bag.replay import state_of
from tuling_fsm.bag.saved_state import code_version, go_on, load_state, save_state
from tuling_fsm.bag.writer import BagWriter, set_aside
from tuling_fsm.compiling import PLANNER_PARTS, Report, compile_kernels
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import flatten, load, nest
from tuling_fsm.ros.driver import Agent, Driver
from tuling_fsm.ros.endpoints import Endpoints
from tuling_fsm.ros.failure import in_one_line
from tuling_fsm.ros.files import read_mission, required_file
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.node_parameters import PlannerNodeParameters, planner_specs
from tuling_fsm.ros.parameter_server import ParameterServer
from tuling_fsm.ros.qos import message_class, profile
from tuling_fsm.ros.runtime import Runtime
from tuling_fsm.wire.diagnostics import Status, pack_diagnostics
from tuling_fsm.wire.topics import BY_NAME

_OWN = tuple(PlannerNodeParameters.__dataclass_fields__)
_LOCK_STEP_WAIT_S = 10.0
SUCCESS, FAILURE = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


Transition = Callable[["PlannerNode", LifecycleState], TransitionCallbackReturn]


def logged(transition: Transition) -> Transition:
    """rclpy turns an exception in a transition into an error without a word; this says which. A signal that ends a long
    one is no error.
    """

    @wraps(transition)
    def call(node: PlannerNode, state: LifecycleState) -> TransitionCallbackReturn:
        node.in_transition = True
        try:
            return transition(node, state)
        except SystemExit:
            return FAILURE
        except Exception as error:
            node.get_logger().error(f"{transition.__name__}: {in_one_line(error)}")
            return TransitionCallbackReturn.ERROR
        finally:
            node.in_transition = False

    return call


@dataclass(frozen=True)
class Brain:
    """What the node drives: how its parameters are declared, how a map is read, and how an agent is made of both."""

    parameters: type[Any]
    read_map: Callable[[Path], Any]
    make_agent: Callable[[Any, Any], Agent]
    compile: Callable[[Report], None] = lambda report: None


def brain() -> Brain:
    """The product's own agent and map reader."""
    from tuling_fsm.agent import Agent as ProductAgent
    from tuling_fsm.agent import Parameters
    from tuling_fsm.map.opendrive import read_map

    return Brain(Parameters, read_map, ProductAgent, partial(compile_kernels, tuple(PLANNER_PARTS)))


class PlannerNode(LifecycleNode):
    """Its topics are in `wire.topics`, its services and clients in `Endpoints`.

    Args:
        brain: what it drives.
        name: of the node.

    Raises:
        InputError: a parameter is unknown, of the wrong type or out of range.
    """

    def __init__(self, brain: Brain, name: str = "planner") -> None:
        super().__init__(name, automatically_declare_parameters_from_overrides=True)
        self.finished = False
        self.in_transition = False
        self.hurried = True
        self.exit_code = 0
        self._brain = brain
        self._endpoints: Endpoints | None = None
        self._runtime: Runtime | None = None
        specs = planner_specs(brain.parameters)
        self._settings = ParameterServer(self, specs, lambda: self._endpoints is not None)

    @logged
    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Read parameters and map, compile, make the topics; what is wrong is said in one line."""
        began = time.perf_counter()
        try:
            self._own, self._agent_parameters = self._read_parameters()
            self._map = self._brain.read_map(required_file("map_file", self._own.map_file))
            mission = read_mission(self._own.mission_file) if self._own.mission_file else None
            self._warm_up()
        except (InputError, OSError) as error:
            self.get_logger().error(f"cannot configure: {error}")
            return FAILURE
        self._inbox = Inbox(self.get_logger().warning)
        if mission is not None:
            self._inbox.values["mission"] = mission
        self._endpoints = Endpoints(self, self._inbox, self._own.lock_step, lambda: self._runtime)
        gc.collect()
        gc.freeze()
        self.get_logger().info(f"configured in {time.perf_counter() - began:.1f} s")
        return SUCCESS

    @logged
    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Start anew, or where the state was kept if that is asked for, ticking on odometry."""
        assert self._endpoints is not None
        agent = self._brain.make_agent(self._map, self._agent_parameters)
        try:
            bag = self._open_bag(self._resume(agent))
        except InputError as error:
            self.get_logger().error(f"cannot activate: {error}")
            return FAILURE
        if self._own.lock_step and not self._endpoints.routes.wait(_LOCK_STEP_WAIT_S):
            self.get_logger().warning("no route server yet")
        result = super().on_activate(state)
        decel = float(self._agent_parameters.vehicle.comfort_decel)
        driver = Driver(agent, self._inbox, self._own.lock_step, decel, self.get_logger().error)
        keep = self._keep_state if self._own.state_file else None
        self._runtime = Runtime(driver, self._endpoints, self._own, bag, self._refreshed, keep)
        return result

    @logged
    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Stop the car, then stop ticking."""
        self.stop()
        return super().on_deactivate(state)

    @logged
    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Give up topics and map."""
        self._give_up()
        return SUCCESS

    @logged
    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """From any state: stop the car, give everything up, and end the process."""
        self.stop()
        self._give_up()
        self.finished = True
        return SUCCESS

    @logged
    def on_error(self, state: LifecycleState) -> TransitionCallbackReturn:
        """After a transition that failed half-way: stop the car, and back to unconfigured."""
        self.get_logger().info("unconfigured now")
        self.stop()
        self._give_up()
        return SUCCESS

    @property
    def interruptible(self) -> bool:
        """Whether it is in a long transition without a car to stop; otherwise a signal is seen soon enough."""
        return self.in_transition and self._runtime is None

    def stop(self) -> None:
        """Tell the car to stop, and stop ticking; nothing where the node is not active."""
        if self._runtime is not None:
            try:
                self._runtime.halt()
            finally:
                self._runtime = None

    def _give_up(self) -> None:
        endpoints, self._endpoints = self._endpoints, None
        if endpoints is not None:
            endpoints.destroy()
        gc.unfreeze()

    def _read_parameters(self) -> tuple[PlannerNodeParameters, Any]:
        values = self._settings.values
        self._settings.changed = False
        own = load(PlannerNodeParameters, {name: values[name] for name in _OWN})
        rest = {name: value for name, value in values.items() if name not in _OWN}
        return own, load(self._brain.parameters, nest(rest))

    def _refreshed(self) -> tuple[PlannerNodeParameters, Any] | None:
        """The parameters, if one has been set since they were read (USE-12)."""
        if not self._settings.changed:
            return None
        self._own, self._agent_parameters = self._read_parameters()
        return self._own, self._agent_parameters

    def _warm_up(self) -> None:
        if self._own.state_file:
            code_version()
        topic = BY_NAME["/diagnostics"]
        diagnostics = self.create_publisher(message_class(topic.type), topic.name, profile(topic.qos))

        def tell(text: str) -> None:
            self.get_logger().info(text, throttle_duration_sec=5.0)
            diagnostics.publish(pack_diagnostics(self.get_clock().now().nanoseconds, (Status("planner", text),)))

        self._brain.compile(tell)
        self.destroy_publisher(diagnostics)
        self._brain.make_agent(self._map, self._agent_parameters).warm_up()

    def _resume(self, agent: Agent) -> Any:
        """Go on from the kept state, where that is asked for and there is one; returns it, else None.

        Raises:
            InputError: it cannot be used.
        """
        own = self._own
        if not (own.resume and own.state_file and Path(own.state_file).exists()):
            return None
        record = load_state(own.state_file, self._map_name())
        go_on(agent, record, own.state_file)
        self.get_logger().warning(f"going on from {own.state_file}")
        return record

    def _keep_state(self, record: Any) -> None:
        try:
            save_state(self._own.state_file, record, self._map_name())
        except OSError as error:
            self.get_logger().warning(f"state_file: {error}", throttle_duration_sec=10.0)

    def _map_name(self) -> str:
        return Path(self._own.map_file).name

    def _open_bag(self, record: Any) -> BagWriter | None:
        """The bag that is asked for; the state that was gone on from is at its head, what led to it is kept."""
        if not self._own.record:
            return None
        map_file = Path(self._own.map_file).resolve()
        restored = {} if record is None else state_of(record, map_file)
        if record is not None and (aside := set_aside(self._own.record)) is not None:
            self.get_logger().info(f"what was recorded before is in {aside}")
        run = {"map": str(map_file), "parameters": flatten(self._agent_parameters), **restored}
        return BagWriter(self._own.record, run)
