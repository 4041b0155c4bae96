"""Questions to the route server: asked until answered, with growing pauses (DEP-2)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tuling_fsm.behaviour.leaf import BehaviourView
from tuling_fsm.behaviour.memory import Memory, RouteQuestion, report
from tuling_fsm.behaviour.mission.points import ON_LANE_M, is_past, just_past, pose_of
from tuling_fsm.behaviour.parameters import RouteParameters
from tuling_fsm.core.geometry import Pose, distance
from tuling_fsm.core.records import replace
from tuling_fsm.core.request import Hold, Reason
from tuling_fsm.map.route import Route
from tuling_fsm.map.routing import match_route, plan_route
from tuling_fsm.world.inputs import RouteRequest
from tuling_fsm.world.on_route import track
from tuling_fsm.world.world import RouteMatch

PUSHED = -1
"""Number of a route that was not asked for."""
TOLERANCE_S = 1e-6
_AT_BEGIN_M, _SAME_BEGIN_M, _LEAD_M = 2.0, 10.0, 100.0

_FAULTS = {
    "start_off_road": (Reason.OUTSIDE_MAP, "the car is on no lane; "),
    "goal_off_road": (Reason.OUTSIDE_MAP, "the goal is on no lane; "),
    "no_path": (Reason.NO_PATH, "no lanes lead to the goal; "),
}
"""What there is to say where no server can have a route, by the status of the map's own search."""

Accept = Callable[[BehaviourView, Route], str]
"""Why a route is no answer, or an empty string."""


def open_question(view: BehaviourView, purpose: str) -> Memory:
    """Begin to ask, on the next call of `pursue`."""
    routing = view.memory.routing
    ticket = view.memory.mission.ticket
    question = RouteQuestion(purpose, first=routing.number + 1, due_at=view.clock, ticket=ticket)
    return replace(view.memory, routing=replace(routing, question=question))


def pursue(view: BehaviourView, accept: Accept) -> Memory:
    """Take the answers of this tick; ask, or ask again, when it is time. For another mission goal it is asked anew."""
    memory = _take_answers(view.having(_for_present_goal(view)), accept)
    question, parameters = memory.routing.question, view.context.parameters.route
    if question.answered:
        return memory
    if question.asked_at is not None and view.clock - question.asked_at > parameters.answer_timeout:
        memory = _fail(view, memory, f"no answer within {parameters.answer_timeout:g} s")
        question = memory.routing.question
    if question.asked_at is None and view.clock >= question.due_at - TOLERANCE_S and view.world.localized:
        memory = send(view, memory, question.purpose)
        if memory.routing.outbox:
            asked = replace(question, asked_at=view.clock)
            memory = replace(memory, routing=replace(memory.routing, question=asked))
    return memory


def pursue_stop(view: BehaviourView) -> Memory:
    """As `pursue`; after a failure the way to a stop is asked for from past it where it was not, and the other way
    round: a car that stands at its stop comes to it once more round the block (TMP-3).
    """
    view = view.having(_for_present_goal(view))
    before = view.memory.routing.question.failures
    memory = pursue(view.having(_take_kept(view, _leads_on_joined)), _leads_on_joined)
    if memory.routing.question.failures == before:
        return memory
    progress = memory.mission
    point = progress.goal.point if progress.goal.is_stop else None
    other = None if progress.around is not None or point is None else just_past(view.context.road_map, point)
    return replace(memory, mission=replace(progress, around=other))


def send(view: BehaviourView, memory: Memory, purpose: str) -> Memory:
    """Put one request in the outbox, where there is somewhere to go."""
    goal = destination(view)
    if goal is None:
        return memory
    routing, progress = memory.routing, memory.mission
    request = RouteRequest(routing.number + 1, purpose, _start(memory, view.world.ego.pose), goal)
    asked = replace(routing, number=request.number, outbox=(*routing.outbox, request), ticket=progress.ticket)
    return replace(memory, routing=asked)


def asking(what: str, question: RouteQuestion) -> Hold:
    """Stands while an answer is waited for, and says why there is none yet (USE-7)."""
    many = {0: "", 1: ", 1 failure"}.get(question.failures, f", {question.failures} failures")
    reason, why = _FAULTS.get(question.status, (Reason.NO_ROUTE, ""))
    return Hold(reason, detail=f"{why}asking {what}{many}")


def backoff_s(parameters: RouteParameters, failures: int) -> float:
    """The pause after so many failures in a row, s."""
    doublings = min(failures - 1, 30)
    return float(min(math.ldexp(parameters.backoff_first, doublings), parameters.backoff_max))


def destination(view: BehaviourView) -> Pose | None:
    """Where the search for a slot leads, else the present mission goal, or without a mission the route in use; None for
    nowhere, or not known yet.
    """
    progress = view.memory.mission
    searched = view.memory.parking.search_goal(progress.mission)
    if searched is not None and not progress.over:
        return searched
    if progress.mission is None:
        route = view.memory.routing.route
        return None if route is None else _end(route)
    point = progress.goal.point
    return None if point is None or progress.over else pose_of(view.context.road_map, point)


def joined(view: BehaviourView, route: Route) -> Route:
    """A route that was asked for from a place ahead of the car, with the way to there before it (TMP-3)."""
    around, begin = view.memory.mission.around, route.reference.at(0.0)
    pose = view.world.ego.pose
    if around is None or is_past(pose, begin, -_AT_BEGIN_M) or distance(begin[:2], around[:2]) > _SAME_BEGIN_M:
        return route
    lead = plan_route(view.context.road_map, pose, begin).route
    if lead is None or lead.length > _LEAD_M:
        return route
    return match_route(view.context.road_map, np.vstack((lead.poses()[:-1], route.poses()[1:]))) or route


def use(view: BehaviourView, memory: Memory, route: Route) -> Memory:
    """Take a route into use; one that was kept back is older, and dropped."""
    before = memory.routing
    routing = replace(before, route=route, kept=None, arrived=False, refreshed_at=view.clock, serves=before.ticket)
    return replace(memory, routing=routing)


def place_on_route(view: BehaviourView, route: Route) -> float:
    """Arc length of the car on a route (m): for the one that the World knows the tracked one, else where it would be
    looked for first.
    """
    if view.world.route is route:
        return view.world.route_s
    return track(route, view.world.ego.pose, None, 0.0).s


def leads_on(view: BehaviourView, route: Route) -> str:
    """Accepts a route that begins near the car and does not end where it is."""
    pose = view.world.ego.pose
    nearest = route.reference.project(pose.x, pose.y)
    reach = view.context.parameters.free.radius
    if abs(nearest.offset) > reach:
        return f"it runs {abs(nearest.offset):.0f} m from the car"
    if route.length - place_on_route(view, route) <= arrival_distance(view, view.memory.routing.arrived):
        return "it ends where the car is"
    return ""


def leads_back(view: BehaviourView, route: Route) -> str:
    """For a car at the end of its route: refuses one that comes to the same place once more, round the block, as a car
    a little past it is answered (USE-10). A lap that is pushed is meant.
    """
    used = view.memory.routing.route
    back = used is not None and distance(_end(route)[:2], _end(used)[:2]) <= ON_LANE_M
    return "it leads back to where the car is" if back else ""


def arrival_distance(view: BehaviourView, taken: bool) -> float:
    """From the rear axle to a route's end at which it has been driven, m. A `taken` end is reached with the bumper."""
    return view.context.parameters.route.arrived + (view.context.vehicle.front if taken else 0.0)


def _start(memory: Memory, pose: Pose) -> Pose:
    """From where a route is asked for: past the present stop, or beside the car, where it is to turn round first."""
    return memory.mission.around or memory.parking.search_start(pose)


def _status(view: BehaviourView, memory: Memory) -> str:
    """Whether the map has a route from where to where one is asked for: `ok`, or what is wrong with them."""
    goal = destination(view)
    return "" if goal is None else plan_route(view.context.road_map, _start(memory, view.world.ego.pose), goal).status


def _for_present_goal(view: BehaviourView) -> Memory:
    """With the question opened anew where the mission goal has become another one: answers to the old one are of no
    use any more, and that the car has arrived there matters only if this is the same place.
    """
    routing = view.memory.routing
    if routing.question.ticket == view.memory.mission.ticket:
        return view.memory
    memory, goal = open_question(view, routing.question.purpose), destination(view)
    there = routing.route is not None and goal is not None and distance(_end(routing.route)[:2], goal[:2]) <= ON_LANE_M
    return replace(memory, routing=replace(memory.routing, arrived=routing.arrived and there))


def _take_answers(view: BehaviourView, accept: Accept) -> Memory:
    memory = view.memory
    for match in view.answers:
        if _answers(match, memory.routing.question):
            memory = _take(view, memory, match, accept)
    return memory


def _leads_on_joined(view: BehaviourView, route: Route) -> str:
    return leads_on(view, joined(view, route))


def _take_kept(view: BehaviourView, accept: Accept) -> Memory:
    """Take a route that was pushed while the car still stopped, where it leads on from there (RRF-2)."""
    routing = view.memory.routing
    kept = routing.kept if routing.kept_unasked else None
    if kept is None or routing.question.answered or not view.world.localized or accept(view, kept):
        return view.memory
    return _take(view, view.memory, RouteMatch(PUSHED, kept), accept)


def _answers(match: RouteMatch, question: RouteQuestion) -> bool:
    """A pushed route is also one where there is an answer already: it is newer."""
    return match.request == PUSHED or (not question.answered and match.request >= question.first)


def _take(view: BehaviourView, memory: Memory, match: RouteMatch, accept: Accept) -> Memory:
    objection = match.fault if match.route is None else accept(view, match.route)
    if match.route is not None and not objection and memory.routing.arrived and match.request != PUSHED:
        objection = leads_back(view, match.route)
    routing = memory.routing
    if match.route is not None and not objection:
        answered = replace(routing, question=replace(routing.question, answered=True))
        return use(view, replace(memory, routing=answered), joined(view, match.route))
    if match.request == routing.number and routing.question.asked_at is not None:
        return _fail(view, memory, objection)
    return report(memory, f"{match.name}: {objection}")


def _end(route: Route) -> Pose:
    return route.reference.at(route.length)


def _fail(view: BehaviourView, memory: Memory, why: str) -> Memory:
    routing, parameters = memory.routing, view.context.parameters.route
    failures = routing.question.failures + 1
    pause = parameters.refresh_period if routing.arrived else backoff_s(parameters, failures)
    question = replace(
        routing.question,
        failures=failures,
        asked_at=None,
        due_at=view.clock + pause,
        status=_status(view, memory),
    )
    line = f"route request {routing.number} ({question.purpose}): {why}; asked again in {pause:g} s"
    return report(replace(memory, routing=replace(routing, question=question)), line)
