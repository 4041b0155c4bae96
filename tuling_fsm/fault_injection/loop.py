"""The closed loop with the vehicle's own ends: world, links, the planner's process, and the tracker that watches plans.

A fault is injected between two frames and ended between two others; without one the run is the scenario's (SIM-2).
"""

from __future__ import annotations

import dataclasses
from typing import Any

from tuling_fsm.agent import Parameters, Tick
from tuling_fsm.behaviour.decision import BehaviourRecord
from tuling_fsm.core.request import Limit, Reason
from tuling_fsm.core.topics import INPUTS
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.fault_injection.faults import InjectedFault, PlannerDeath
from tuling_fsm.fault_injection.link import SOUND_LINK, LinkMessage, MessageLink, link_streams
from tuling_fsm.fault_injection.node import LATCHED_TOPICS, NodeLog, PlannerProcess
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.ros.last_resort import braking, straight_on
from tuling_fsm.ros.tracking_cycle import TrackingCycle, TrackingParameters
from tuling_fsm.sim.environment.route_server import frames_of
from tuling_fsm.sim.reporting.run_log import LogRow, RunLog
from tuling_fsm.sim.scenario.model import Scenario
from tuling_fsm.sim.sensors.localization import SOUND
from tuling_fsm.sim.simulation import Simulation
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.inputs import OPERATOR, pack_inputs
from tuling_fsm.wire.trajectory import unpack_trajectory
from tuling_fsm.world.inputs import Inputs, RouteRequest

NO_PLANNER = Limit(Reason.NONE, detail="the planner's process is dead")
"""What is known of the reason for a stand while nobody tells one."""
Sent = bytes | RouteRequest
"""From the planner: a serialized message, or a question to the route server."""


class VehicleLoop:
    """One run, frame by frame.

    Args:
        road_map: of the world and of the planner.
        scenario: that is driven.
        seed: of everything random.
        parameters: of the planner.
    """

    def __init__(self, road_map: RoadMap, scenario: Scenario, seed: int, parameters: Parameters) -> None:
        self.simulation = Simulation(road_map, scenario, seed, parameters.vehicle)
        self.node_log = NodeLog()
        self.run_log = RunLog(top_speed=parameters.vehicle.max_speed)
        self._road_map, self._seed, self._parameters = road_map, seed, parameters
        self._node: PlannerProcess | None = self._started()
        self._tracking = TrackingCycle(TrackingParameters(vehicle=parameters.vehicle))
        self._links(seed, scenario.name)
        self._clock_s = self._tick_s = 0.0
        self._previous: Inputs | None = None
        self._latched: dict[str, LinkMessage[bytes]] = {}
        self._busy_until = 0
        self._unsent: list[tuple[int, LinkMessage[Sent]]] = []
        self.last_tick: Tick | None = None
        """The latest of the planner, of whichever process."""
        self._kept: BehaviourRecord | None = None

    def _links(self, seed: int, *names: str) -> None:
        to, back = link_streams(seed, *names)
        self._to_planner: MessageLink[bytes] = MessageLink(to)
        self._from_planner: MessageLink[Sent] = MessageLink(back)

    def _started(self, resume: BehaviourRecord | None = None) -> PlannerProcess:
        return PlannerProcess(self._road_map, self._parameters, self.node_log, resume)

    @property
    def state(self) -> str:
        """Path of the state that the planner told last."""
        return "" if self.last_tick is None else self.last_tick.state

    # A fault.

    def inject(self, fault: InjectedFault, cell: str) -> None:
        """Let a fault begin on this frame; what is random in it is drawn by the seed and the name of the `cell`."""
        self._links(self._seed, cell)
        self._to_planner.fault = self._from_planner.fault = fault.link
        self._disturb(fault)
        for command in fault.begin:
            self.simulation.inject(command)
        self._clock_s, self._tick_s = fault.clock_s, fault.tick_s
        if fault.death is not PlannerDeath.NONE and self._node is not None:
            self._kept, self._node = self._node.record, None
            self._unsent = []

    def end(self, fault: InjectedFault) -> None:
        """Let it end on this frame; what it has left behind stays."""
        self._to_planner.fault = self._from_planner.fault = SOUND_LINK
        self.simulation.disturb_localization(SOUND)
        self.simulation.disturb_tracking(None)
        for command in fault.end:
            self.simulation.inject(command)
        self._clock_s = self._tick_s = 0.0
        if self._node is None:
            self._node = self._started(self._kept if fault.death is PlannerDeath.RESUMED else None)
            self._node.wait(self._latched.values())

    def _disturb(self, fault: InjectedFault) -> None:
        self.simulation.disturb_localization(fault.localization)
        self.simulation.disturb_tracking(fault.tracking)

    # A frame.

    def frame(self) -> None:
        """Everything that happens from one frame to the next."""
        simulation = self.simulation
        arrived = self._to_planner.pass_on(simulation.frame, self._sensed(simulation.inputs()))
        self._serve(arrived)
        self._deliver()
        limit = NO_PLANNER if self._node is None or self.last_tick is None else self.last_tick.limit
        pose, v = simulation.ego.pose, simulation.ego.v
        self.run_log.rows.append(LogRow(simulation.stamp, self.state, pose, v, limit, 0.0))
        simulation.advance(self._followed(), self.state)

    def _sensed(self, inputs: Inputs) -> list[LinkMessage[bytes]]:
        """The messages that the world sends on this frame, the odometry last, with the stamps of the nodes' clock."""
        previous, self._previous = self._previous, inputs
        fresh: dict[str, Any] = {name: getattr(inputs, name) for name in OPERATOR}
        for field in {topic.field for topic in INPUTS}:
            value = getattr(inputs, field)
            if field == "route_answers":
                fresh[field] = value
            elif value is not None and (previous is None or value is not getattr(previous, field)):
                fresh[field] = self._restamped(value)
        sent = [LinkMessage(*pair) for pair in pack_inputs(Inputs(inputs.stamp, **fresh))]
        self._latched.update({message.topic: message for message in sent if message.topic in LATCHED_TOPICS})
        return sorted(sent, key=lambda message: message.topic == "odometry")

    def _restamped(self, value: Any) -> Any:
        if self._clock_s == 0.0 or not hasattr(value, "stamp"):
            return value
        return dataclasses.replace(value, stamp=value.stamp + self._clock_s)

    def _serve(self, arrived: list[LinkMessage[bytes]]) -> None:
        """The planner's process takes what has arrived, now or when it is no longer busy; what it sends is under way
        for as long as its tick takes.
        """
        node, simulation = self._node, self.simulation
        if node is None:
            return
        if simulation.frame < self._busy_until:
            node.wait(arrived)
            return
        node.now_ns, node.tick_s = nanoseconds(simulation.stamp + self._clock_s), self._tick_s
        answer = node.receive(arrived)
        ticks, node.ticks = node.ticks, []
        due = simulation.frame + (frames_of(self._tick_s * len(ticks), simulation.dt) if ticks else 0)
        self._busy_until = due
        self._unsent += [(due, LinkMessage(each.topic, each.content)) for each in answer.messages]
        self._unsent += [(due, LinkMessage("route_request", request)) for request in answer.requests]
        for tick in ticks:
            self.last_tick = tick
            if tick.decision.route_blocked is not None:
                simulation.report_block(tick.decision.route_blocked)

    def _deliver(self) -> None:
        """What the planner sends arrives at the tracker and at the route server."""
        frame = self.simulation.frame
        sent = [message for due, message in self._unsent if due <= frame]
        self._unsent = [(due, message) for due, message in self._unsent if due > frame]
        for message in self._from_planner.pass_on(frame, sent):
            if isinstance(message.content, RouteRequest):
                self.simulation.request_route(message.content)
            elif message.topic == "trajectory":
                self._tracking.take(unpack_trajectory(message.content))

    def _followed(self) -> Trajectory | None:
        """What the tracker follows on this frame, on the clock of the world: the plan, or a stop where it is stale.

        None while there has been no plan at all: the car stands where it is.
        """
        simulation = self.simulation
        if self.last_tick is None:
            return None
        stamp = simulation.stamp + self._clock_s
        plan = self._tracking.followed(stamp)
        if plan is None:
            way = straight_on(stamp, simulation.ego.pose, simulation.ego.v)
            plan = braking(way, stamp, self._parameters.vehicle.comfort_decel)
        return plan if self._clock_s == 0.0 else dataclasses.replace(plan, stamp=plan.stamp - self._clock_s)
