"""Watches the run and records infractions: one for each event, with whether the car is at fault.

It takes nobody's word: what it judges by is the truth of the simulation and the map. The rules are published ones,
nuPlan's closed-loop metrics ([caesar2021][]) and the CARLA leaderboard 2.1 ([leaderboard2][]), and a few of our own,
see `score.OWN_COEFFICIENTS`. What is sanctioned is decided by the situation, see `sanctions.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tuling_fsm.core.geometry import shifted
from tuling_fsm.core.vehicle import Vehicle, center_ahead
from tuling_fsm.map.lanes import LaneId, LanePosition, ParkingSlot
from tuling_fsm.map.road_map import RoadMap
from tuling_fsm.sim.actors.agent_states import AgentBoxes, EgoState
from tuling_fsm.sim.parameters import RefereeParameters
from tuling_fsm.sim.scoring.agent_tracks import PERSONS, AgentTracks
from tuling_fsm.sim.scoring.blockage import Blockage
from tuling_fsm.sim.scoring.collisions import boxes_touched, collision_fault, contact, is_behind
from tuling_fsm.sim.scoring.comfort import Comfort
from tuling_fsm.sim.scoring.infraction_log import InfractionLog, RefereeFrame
from tuling_fsm.sim.scoring.lane_yielding import LaneYielding
from tuling_fsm.sim.scoring.near_misses import NearMisses
from tuling_fsm.sim.scoring.pedestrian_yielding import PedestrianYielding
from tuling_fsm.sim.scoring.queue_overtaking import QueueOvertaking
from tuling_fsm.sim.scoring.right_of_way import JunctionYielding
from tuling_fsm.sim.scoring.road_rules import PARKING, RoadRules
from tuling_fsm.sim.scoring.sanctions import Sanctions
from tuling_fsm.sim.scoring.score import Infraction, Metrics, MetricValues
from tuling_fsm.sim.scoring.static_objects import StaticObjects
from tuling_fsm.sim.scoring.stop_lines import StopLineWatch
from tuling_fsm.world.inputs import Kind

PERSISTENT_S = 1.0
"""Speeding and the wrong way count after this long."""
SLOWING, RESPONSE_S = 1.0, 0.5
"""A car that begins its run faster than allowed slows down by at least the one (m/s^2) after the other."""


class Referee:
    """Looks once a frame. Of the planner it knows nothing."""

    def __init__(
        self,
        road_map: RoadMap,
        vehicle: Vehicle,
        parameters: RefereeParameters,
        more_slots: Sequence[ParkingSlot] = (),
    ) -> None:
        """`more_slots` are parking slots that the map does not have."""
        self._vehicle = vehicle
        self._p = parameters
        self.rules = RoadRules(road_map, vehicle, more_slots)
        self._metrics = Metrics()
        self._log = InfractionLog(parameters.release)
        self._start: tuple[float, float] | None = None
        """Stamp and speed of the first frame, s and m/s: a script may put the car on the road at any speed."""
        self._tracks = AgentTracks(road_map)
        self._static_objects = StaticObjects(road_map)
        self._ran_in: dict[int, float] = {}
        """By number, agents that ran into the car's rear and touch it since: 1 where that is its tail, -1 its front."""
        self._near_misses = NearMisses(road_map, vehicle, self._tracks)
        self._sanctions = Sanctions(road_map, vehicle, self.rules, self._tracks)
        self._stop_lines = StopLineWatch(road_map, vehicle, parameters)
        self._yielding = (
            LaneYielding(road_map, vehicle, self._tracks, parameters.line),
            JunctionYielding(road_map, vehicle, self._tracks),
            PedestrianYielding(road_map, vehicle, self._tracks),
            QueueOvertaking(road_map, vehicle, self._tracks, parameters.line),
        )
        self._comfort = Comfort(parameters)
        self._blockage = Blockage(road_map, vehicle, self.rules, self._stop_lines.lines, parameters)

    @property
    def infractions(self) -> list[Infraction]:
        """What has been written down."""
        return self._log.infractions

    @property
    def measures(self) -> MetricValues:
        """What was measured beside infractions."""
        return self._metrics.measures()

    @property
    def at_fault_collision(self) -> bool:
        """Whether the car has caused a collision."""
        return any(record.kind == "collision" and record.at_fault for record in self.infractions)

    def watch(
        self,
        stamp: float,
        dt: float,
        ego: EgoState,
        agents: AgentBoxes,
        lights: Mapping[int, int],
        route_lanes: frozenset[LaneId],
        held: bool,
    ) -> None:
        """Judge one frame.

        Args:
            stamp: its time, s.
            dt: its length, s.
            ego: the car; its `state` is not looked at.
            agents: all other agents.
            lights: states by signal number.
            route_lanes: lanes of the car's route; empty: it has none.
            held: whether the car is kept from driving (emergency stop, lost localization): its standing is explained.
        """
        frame = RefereeFrame(stamp, dt, ego, self._vehicle.footprint(ego.pose), agents, lights, route_lanes)
        self._tracks.watch(stamp, dt, agents, lights)
        self._sanctions.watch(frame)
        self._collisions(frame)
        self._map_collisions(frame)
        self._near_misses.watch(frame, self._log)
        self._road(frame)
        self._stop_lines.watch(frame, self._log)
        for watch in self._yielding:
            watch.watch(frame, self._log)
        self._comfort.watch(frame, self._log)
        self._blockage.watch(frame, held, self._log)

    def _collisions(self, frame: RefereeFrame) -> None:
        ego, agents, vehicle = frame.ego, frame.agents, self._vehicle
        centre = shifted(ego.pose, center_ahead(vehicle))
        hits = boxes_touched(centre.x, centre.y, ego.z, centre.heading, vehicle.length, vehicle.width, agents.boxes)
        ran_in, self._ran_in = self._ran_in, {}
        for row in hits.tolist():
            box, kind, number = agents.boxes[row], Kind(int(agents.kinds[row])), int(agents.ids[row])
            touched = contact(ego.pose, ego.v, vehicle, box, self._p.stopped)
            person, stands = kind in PERSONS, bool(abs(box[6]) <= self._p.stopped)
            fault = collision_fault(touched, person, stands, self.rules.inside_one_lane(frame.corners))
            if not fault and number not in ran_in and is_behind(ego.pose, ego.v, vehicle, box):
                self._ran_in[number] = 1.0 if ego.v >= 0.0 else -1.0
            elif number in ran_in and ran_in[number] * ego.v > -self._p.stopped:
                fault, self._ran_in[number] = False, ran_in[number]
            detail = f"{kind.name.lower()} {number}, {touched.value} contact at {abs(ego.v):.1f} m/s"
            # What is run into while touching already is another event where that is a person.
            key = f"collision {number}{' at fault' if person and fault else ''}"
            self._log.note(frame.stamp, key, "collision", detail, fault)

    def _map_collisions(self, frame: RefereeFrame) -> None:
        v = abs(frame.ego.v)
        for row in self._static_objects.touched(frame.corners, frame.ego.z):
            thing = self._static_objects.all[row]
            detail = f"thing {thing.id} of the map ({thing.type}), contact at {v:.1f} m/s"
            key = f"collision thing {row}"
            self._log.note(frame.stamp, key, "collision", detail, v > self._p.stopped)

    def _road(self, frame: RefereeFrame) -> None:
        ego, position = frame.ego, frame.ego.position
        off_road = self.rules.off_road(frame.corners, self._p.off_road) and not self._sanctions.allow(frame, "off_road")
        if off_road:
            self._log.note(frame.stamp, "off_road", "off_road", f"at ({ego.pose.x:.1f}, {ego.pose.y:.1f})")
        if position is not None:
            self._lines(frame, position)
        lane = position if position is not None else self.rules.lane_beside(ego.pose, ego.z)
        wrong_way = lane is not None and self._wrong_way(frame, lane)
        self._speed(frame, lane or self.rules.lane_beside(ego.pose, ego.z, (PARKING,)))
        self._way(frame, off_road or wrong_way)

    def _speed(self, frame: RefereeFrame, lane: LanePosition | None) -> None:
        """By the limit of a lane; where there is none the time counts all the same."""
        v = abs(frame.ego.v)
        if lane is None:
            self._metrics.note_speed(frame.dt, 0.0)
            return
        limit = self.rules.limit(lane)
        self._metrics.note_speed(frame.dt, v - limit)
        too_fast = v > max(limit + self._p.speeding, self._slowing_down(frame))
        if self._log.lasting(frame.stamp, "speeding", too_fast, PERSISTENT_S):
            detail = f"{v:.1f} m/s where {limit:.1f} m/s are allowed"
            self._log.note(frame.stamp, "speeding", "speeding", detail)

    def _slowing_down(self, frame: RefereeFrame) -> float:
        """Speed (m/s) of a car that slows down from the one that it began its run with."""
        self._start = self._start or (frame.stamp, abs(frame.ego.v))
        begun, v = self._start
        return v - SLOWING * max(0.0, frame.stamp - begun - RESPONSE_S)

    def _way(self, frame: RefereeFrame, outside: bool) -> None:
        """Metres on and off the route; sanctioned ones are on it."""
        middle = shifted(frame.ego.pose, center_ahead(self._vehicle))
        if not outside and self.rules.outside_route(middle, frame.ego.position, frame.route_lanes):
            outside = not self._sanctions.allow(frame, "wrong_way")
        self._metrics.note_way(abs(frame.ego.v) * frame.dt, outside)

    def _lines(self, frame: RefereeFrame, position: LanePosition) -> None:
        over = self.rules.overrun(frame.corners, position, frame.ego.pose.heading)
        if over is None or over.depth <= self._p.line or self._sanctions.allow(frame, "solid_line"):
            return
        name = over.kind.name.lower().replace("_", " ")
        self._log.note(frame.stamp, "solid_line", "solid_line", f"{name} line crossed by {over.depth:.2f} m")

    def _wrong_way(self, frame: RefereeFrame, position: LanePosition) -> bool:
        """Whether the car goes against the traffic without a sanction."""
        ego = frame.ego
        moves = abs(ego.v) > self._p.standing
        heading = ego.pose.heading
        wrong = (
            moves
            and self.rules.goes_against(position, heading, ego.v)
            and not self._sanctions.allow(frame, "wrong_way")
        )
        if wrong:
            self._metrics.note_against(frame.stamp, abs(ego.v) * frame.dt)
        if self._log.lasting(frame.stamp, "wrong_way", wrong, PERSISTENT_S):
            self._log.note(frame.stamp, "wrong_way", "wrong_way", f"on road {position.lane.road}")
        return wrong
