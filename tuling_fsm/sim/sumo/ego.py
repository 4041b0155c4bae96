"""The ego among SUMO's vehicles: put where it really is in every step, on a way that goes on through the junctions.

SUMO's drivers heed at a junction what comes on a way that leads through it. `moveToXY` keeps a vehicle's route while it
is on its edges, and cuts it to the present edge elsewhere: then those that have to yield would not see the ego come.
"""

from __future__ import annotations

from itertools import pairwise

from tuling_fsm.core.geometry import Pose, distance, shifted
from tuling_fsm.map.route import Route
from tuling_fsm.sim.scenario.model import ActorState
from tuling_fsm.sim.sumo.drivers import EGO_TYPE
from tuling_fsm.sim.sumo.edge_graph import EdgeGraph
from tuling_fsm.sim.sumo.engine import SumoEngine
from tuling_fsm.sim.sumo.matching import LaneMatch

BEYOND = 3
"""The way goes on so many edges past the end of the ego's route."""


def front_of(ego: ActorState) -> Pose:
    """The middle of the ego's front bumper."""
    return shifted(ego.pose, ego.center_ahead + 0.5 * ego.length)


class SumoEgo:
    """Follows the ego."""

    def __init__(self, engine: SumoEngine, graph: EdgeGraph, match: LaneMatch) -> None:
        self._engine, self._graph, self._match = engine, graph, match
        self._route: Route | None = None
        self._plan: list[str] = []
        self._at = 0
        self.unseen_steps = 0
        """In how many steps SUMO had no place for it."""

    def place(self, ego: ActorState, route: Route | None) -> None:
        """Before a step: where the ego is after it, and the route that it follows."""
        if route is not self._route:
            self._route, self._at = route, 0
            self._plan = [] if route is None else self.edges_of(route)
        front = front_of(ego)
        way = self._engine.ego_way_left()
        if way:
            self._go_on(way)
        else:
            self._engine.add_ego(EGO_TYPE, self._plan[self._at :] or self._any_way(front))
        self.unseen_steps += not self._engine.place_ego(front, ego.speed)

    def edges_of(self, route: Route) -> list[str]:
        """Edges of a route, without gaps as far as edges join, and some beyond its end."""
        named = [self._match.edge_of[lane.lane] for lane in route.lanes if lane.lane in self._match.edge_of]
        edges = named[:1]
        for before, edge in pairwise(named):
            if edge != before:
                edges += self._graph.between(before, edge) or []
        return edges + self._graph.onward(edges[-1], BEYOND) if edges else []

    def _go_on(self, way: list[str]) -> None:
        """See that SUMO knows the way on from the present edge, the first of `way`."""
        here = way[0]
        if here in self._plan[self._at :]:
            self._at = self._plan.index(here, self._at)
            wanted = self._plan[self._at :]
        else:
            wanted = [here, *self._back_to_plan(here)]
        if wanted != way:
            self._engine.lengthen_ego(wanted)

    def _back_to_plan(self, edge: str) -> list[str]:
        """From an edge off the route: back to the rest of it, or anywhere on."""
        goal = self._plan[min(self._at + 1, len(self._plan) - 1)] if self._plan else None
        way = self._graph.between(edge, goal) if goal is not None else None
        if way is None or len(way) > BEYOND or goal is None:
            return self._graph.onward(edge, BEYOND)
        return way + self._plan[self._plan.index(goal, self._at) + 1 :]

    def _any_way(self, front: Pose) -> list[str]:
        """Where nothing is known of a route: the way on from the nearest edge."""
        nearest = min(self._graph.lanes, key=lambda edge: self._distance(edge, front))
        return [nearest, *self._graph.onward(nearest, BEYOND)]

    def _distance(self, edge: str, front: Pose) -> float:
        """From the nearest lane of an edge, m."""
        centers = [lane.center for lane in self._graph.lanes[edge]]
        return min(distance(center.at(center.project(front.x, front.y).s)[:2], front[:2]) for center in centers)
