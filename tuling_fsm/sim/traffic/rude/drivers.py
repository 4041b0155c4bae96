"""The rude part of the traffic: which drivers it is, what each of them does next.

They are vehicles of the population that run through its stages as all do. Before a frame their settings are changed:
which lights they ignore, whether they are cleared for a junction, how fast they want to be, which lane they are in.
Of the ego they see pose, speed and turn rate; what the traffic else knows of its route is hidden from them. All draws
come from a stream of their own, so that a run without them is what it was.
"""

from __future__ import annotations

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray, Int32Array, IntArray
from tuling_fsm.sim.seeds import generator
from tuling_fsm.sim.traffic.fleet import ROAMING, path_index
from tuling_fsm.sim.traffic.manager import TrafficManager
from tuling_fsm.sim.traffic.rude.junctions import RedClock, goes, held_by_light, look_ahead
from tuling_fsm.sim.traffic.rude.parameters import RudeParameters
from tuling_fsm.sim.traffic.rude.sight import SeenVehicles, see
from tuling_fsm.sim.traffic.stages import BRAKE, LEFT, RIGHT

HAZARD = LEFT | RIGHT | BRAKE
FAST = 3.0
"""Slower ones do not brake for no cause, m/s."""
HALFWAY = 0.5
"""After this share of a change of lanes the bodies would meet."""
ALONGSIDE_M, LANE_M = 0.5, (2.0, 5.0)
"""A lane is free beside a vehicle with this much to spare along it; the middles of lanes beside are so far apart."""


class RudeDrivers:
    """Steers the rude rows of a traffic manager.

    Args:
        traffic: all vehicles.
        rows: those of the population; each is rude with a probability of `share`.
        share: of rude ones, 0 to 1.
        seed: of all their draws.
        parameters: how they drive.
    """

    def __init__(
        self, traffic: TrafficManager, rows: range, share: float, seed: np.random.SeedSequence,
        parameters: RudeParameters,
    ) -> None:  # fmt: skip
        self._traffic, self._p = traffic, parameters
        self._random = generator(seed)
        self.rows: IntArray = np.array(rows, dtype=np.int64)[self._random.random(len(rows)) < share]
        """Rows of the fleet that are rude."""
        count, p = len(self.rows), parameters
        self.gap = self._random.uniform(p.gap_least, p.gap_most, count)
        """Time gap that each thinks enough, s."""
        self.runs_red = p.red_most * self._random.random(count)
        """Each runs a light that has been red for less than this, s."""
        self._until = np.full(count, -np.inf)
        self._decided: list[tuple[int, bool]] = [(-1, False)] * count
        """Lane by which each enters its next junction, and whether it refuses the right of way there."""
        self._red = RedClock()
        fleet = traffic.fleet
        fleet.car["share"][self.rows] = self._random.uniform(p.speed_least, p.speed_most, count)
        fleet.rules["gap"][self.rows], fleet.rules["ignore_signs"][self.rows] = p.standing_gap, p.ignores_signs
        traffic.hide_route(self.rows.tolist())

    def step(self, stamp: float, dt: float, ego: FloatArray, lights: Int32Array) -> None:
        """Decide what each does in the frame that begins.

        Args:
            stamp: time of the frame, s.
            dt: its length, s.
            ego: x, y, z, heading, length, width, speed of the ego's body (m, rad, m/s).
            lights: states by index of the lane graph's signals.
        """
        self._red.look(stamp, lights)
        fleet = self._traffic.fleet
        seen = see(fleet, ego)
        draws = self._random.random((len(self.rows), 3))
        ahead = look_ahead(self._traffic.graph, fleet, self.rows)
        modes = fleet.car["mode"][self.rows].tolist()
        for n, row in enumerate(self.rows.tolist()):
            if modes[n] != ROAMING:
                self._end_stop(n, row)
                continue
            self._pass_lights(stamp, n, ahead[n], lights, seen)
            if self._until[n] > -np.inf:
                if stamp >= self._until[n]:
                    self._end_stop(n, row)
            elif draws[n, 0] < self._p.brake_rate * dt and fleet.car.v[row] > FAST:
                self._brake(stamp, n, row)
            elif draws[n, 1] < self._p.stop_rate * dt and self._on_road(row):
                self._stop(stamp, n, row)
            elif draws[n, 2] < self._p.cut_in_rate * dt:
                self._cut_in(row, seen)

    def _pass_lights(
        self, stamp: float, n: int, ahead: tuple[int, int, int], lights: Int32Array, seen: SeenVehicles
    ) -> None:
        """The light ahead, and the junction behind it. Where a client has set which lights are run, that holds."""
        graph, fleet, row = self._traffic.graph, self._traffic.fleet, int(self.rows[n])
        signal, first, end = ahead
        own = not self._traffic.is_set(row, "ignore_lights")
        runs = own and signal >= 0 and -np.inf < self._red.red_for(stamp, signal) < self.runs_red[n]
        if own:
            fleet.rules.ignore_lights[row] = 1.0 if runs else 0.0
        if first < 0 or held_by_light(lights, signal, runs):
            return
        entry = int(fleet.path_lane[row, first])
        if self._decided[n][0] != entry:
            self._decided[n] = entry, bool(self._random.random() < self._p.refuses)
        if goes(graph, fleet, row, (first, end), seen, float(self.gap[n]), self._decided[n][1] or runs):
            self._decided[n] = -1, False

    def _on_road(self, row: int) -> bool:
        """Whether a vehicle is outside junctions."""
        fleet = self._traffic.fleet
        lane = fleet.path_lane[row, path_index(fleet, row, fleet.car.arc[row])]
        return bool(self._traffic.graph.lane.junction[lane] < 0)

    def _brake(self, stamp: float, n: int, row: int) -> None:
        """Brake hard for no cause."""
        self._until[n] = stamp + self._p.brake_most * (1.0 - self._random.random())
        self._traffic.hold(row, self._p.brake_decel)

    def _stop(self, stamp: float, n: int, row: int) -> None:
        """Stop in the lane with hazard lights."""
        self._until[n] = stamp + self._random.uniform(self._p.stop_least, self._p.stop_most)
        self._traffic.hold(row, self._p.stop_decel)
        self._traffic.fleet.car.lights[row] = HAZARD

    def _end_stop(self, n: int, row: int) -> None:
        """Drive on as ever."""
        if self._until[n] > -np.inf:
            self._until[n] = -np.inf
            self._traffic.release(row)
            self._traffic.fleet.car.lights[row] = 0

    def _cut_in(self, row: int, seen: SeenVehicles) -> None:
        """Change to a lane beside in which somebody is close behind, if nobody is alongside there, nor will be by the
        time that it comes into that lane.
        """
        car = self._traffic.fleet.car
        if not self._on_road(row) or not self._traffic.in_lane(row):
            return
        others = seen.near(float(car.x[row]), float(car.y[row]), row)
        sin, cos = elementwise.sin_cos(car.heading[row])
        dx, dy = others.x - car.x[row], others.y - car.y[row]
        along, aside = dx * cos + dy * sin, dy * cos - dx * sin
        same_way = elementwise.cos(others.heading - car.heading[row]) > 0.5
        tail = -along - 0.5 * (others.length + car.length[row])
        closing = np.maximum(others.v - car.v[row], 0.0)
        left = tail - closing * HALFWAY * self._traffic.parameters.lane_change_time
        for side in (1, -1):
            beside = (side * aside > LANE_M[0]) & (side * aside < LANE_M[1]) & same_way
            alongside = beside & (np.abs(along) < 0.5 * (others.length + car.length[row]) + ALONGSIDE_M)
            behind = beside & (left > self._p.cut_in_least) & (tail < self._p.cut_in_most)
            if behind.any() and not alongside.any() and self._traffic.change_lane(row, side):
                return
