"""Answers that do not come, and messages that do not arrive: asked for again, waited for, or an error."""

from __future__ import annotations

import signal
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from lifecycle_msgs.srv import ChangeState, GetState
from nav_msgs.srv import GetPlan
from patience import PATIENCE_S
from rclpy.serialization import deserialize_message
from rclpy.task import Future

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.topics import BY_NAME
from tuling_fsm.ros import lifecycle_client, planner
from tuling_fsm.ros.inbox import Inbox
from tuling_fsm.ros.lifecycle_client import LifecycleClient
from tuling_fsm.ros.planner_link import PlannerLink
from tuling_fsm.ros.planning_cycle import Acknowledge
from tuling_fsm.ros.qos import acknowledged, message_class, profile, waiting
from tuling_fsm.ros.route_client import RouteClient
from tuling_fsm.ros.simulator import SimNode
from tuling_fsm.wire.paths import pack_path
from tuling_fsm.wire.text import pack_bool
from tuling_fsm.world.inputs import RouteRequest

LEADS_TO = {("configure", "unconfigured"): "inactive", ("activate", "inactive"): "active"}


class Node:
    """A lifecycle node and the way to it: of its requests and answers some are lost, in the order in which they come.

    `lost` has a letter for each question about a transition: `q` the question, `a` the answer, a point neither.
    """

    def __init__(self, lost: str, silent: bool = False) -> None:
        self.lost, self.silent = list(lost), silent
        self.state = "unconfigured"
        self.asked = 0

    def create_client(self, kind: type, _: str) -> SimpleNamespace:
        ask = self._state if kind is GetState else self._change
        return SimpleNamespace(service_is_ready=lambda: True, call_async=ask, remove_pending_request=lambda _: None)

    def spin_once(self, timeout_sec: float) -> None:
        pass

    def _state(self, _: GetState.Request) -> Future:
        future = Future()
        if not self.silent:
            response = GetState.Response()
            response.current_state.label = self.state
            future.set_result(response)
        return future

    def _change(self, request: ChangeState.Request) -> Future:
        self.asked += 1
        future, lost = Future(), self.lost.pop(0) if self.lost else "."
        if lost != "q":
            goal = LEADS_TO.get((request.transition.label, self.state))
            self.state = goal or self.state
            if lost != "a":
                future.set_result(ChangeState.Response(success=goal is not None))
        return future


@pytest.mark.parametrize(
    ("lost", "asked"),
    [(".", 1), ("q.", 2), ("qq.", 3), ("a", 1), ("qa", 2)],
    ids=["nothing", "question", "two questions", "answer", "question and answer"],
)
def test_a_transition_is_made_once_whatever_is_lost(lost: str, asked: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle_client, "_AGAIN_S", 0.01)
    node = Node(lost)
    assert LifecycleClient(node, node, "planner").change("configure", PATIENCE_S)
    assert (node.state, node.asked) == ("inactive", asked)


def test_a_transition_that_is_refused_is_refused_when_it_is_asked_for_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle_client, "_AGAIN_S", 0.01)
    node = Node("a.")
    assert not LifecycleClient(node, node, "planner").change("activate", PATIENCE_S)
    assert (node.state, node.asked) == ("unconfigured", 2)


def test_a_node_that_answers_nothing_is_an_error_after_the_time_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lifecycle_client, "_AGAIN_S", 0.01)
    node = Node("q" * 99, silent=True)
    with pytest.raises(InputError, match="node planner: no answer to configure"):
        LifecycleClient(node, node, "planner").change("configure", 0.05)


class Publisher:
    """Its subscriber has what was sent when that was asked so often; never without a number."""

    def __init__(self, waits: int | None = None) -> None:
        self.waits, self.asked = waits, 0
        self.sent: list[bytes] = []

    def publish(self, message: bytes) -> None:
        self.sent.append(message)

    def wait_for_all_acked(self, _: object) -> bool:
        self.asked += 1
        return self.waits is not None and self.asked > self.waits


def test_an_acknowledgement_is_waited_for_until_it_comes_the_time_is_over_or_it_is_given_up() -> None:
    assert acknowledged(Publisher(waits=5), PATIENCE_S)
    assert not acknowledged(Publisher(), 0.0)
    assert not acknowledged(Publisher(), PATIENCE_S, lambda: True)


@pytest.mark.clause("SIM-2")
@pytest.mark.parametrize("needed", [True, False])
@pytest.mark.parametrize("interrupted", [True, False])
def test_what_a_run_needs_to_repeat_and_does_not_arrive_ends_the_node_and_all_else_does_not(
    needed: bool, interrupted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    for limit in ("_LOCK_STEP_ACK_S", "_LAST_ACK_S"):
        monkeypatch.setattr(planner, limit, 0.0)
    lines: list[str] = []
    log = SimpleNamespace(error=lines.append, warning=lines.append)
    node = SimpleNamespace(
        _published={"state": Publisher(), "trajectory": Publisher()}, _routes=object(), get_logger=lambda: log,
        finished=False, exit_code=0, interrupted=interrupted,
    )  # fmt: skip
    node._arrived = partial(planner.PlannerNode._arrived, node)
    outputs = [("state", b"s"), Acknowledge(("state",), needed), ("trajectory", b"t")]
    planner.PlannerNode._do(node, outputs)
    ends = needed and not interrupted
    assert (node.finished, node.exit_code) == (ends, int(ends))
    assert node._published["trajectory"].sent == ([] if ends else [b"t"])
    assert lines[0].startswith("state: a subscriber does not take what is sent")


@pytest.mark.clause("SIM-2")
def test_a_simulator_whose_messages_do_not_arrive_ends_with_an_error() -> None:
    link = SimpleNamespace(_flush_s=0.0, _node=SimpleNamespace(interrupted=False), lost=False)
    PlannerLink._wait_for(link, Publisher(waits=0))
    assert not link.lost
    PlannerLink._wait_for(link, Publisher())
    assert link.lost
    said: list[str] = []
    SimNode._poll(SimpleNamespace(_asked_at=1.0, _link=link, _fail=said.append))
    assert said == ["what was sent did not arrive within 30 s"]


class RouteServer:
    """A client of it: its questions are answered when a test says so, also those that were given up."""

    def __init__(self) -> None:
        self.asked: list[Future] = []

    def service_is_ready(self) -> bool:
        return True

    def call_async(self, _: object) -> Future:
        self.asked.append(Future())
        return self.asked[-1]

    def remove_pending_request(self, _: Future) -> None:
        pass

    def answer(self, index: int, points: int) -> None:
        raw = pack_path(1, np.zeros((points, 3)))
        self.asked[index].set_result(deserialize_message(raw, GetPlan.Response))


@pytest.mark.clause("DEP-1", "RRF-1")
def test_after_a_deactivation_an_old_answer_is_not_given_to_the_question_of_the_same_number() -> None:
    server, answers = RouteServer(), []
    routes = RouteClient(server, lambda number, points: answers.append((number, len(points))), print)
    cycle = SimpleNamespace(halt=lambda: ())
    node = SimpleNamespace(_routes=routes, _cycle=cycle, _do=list)
    question = RouteRequest(1, "initial", Pose(0.0, 0.0, 0.0), Pose(9.0, 0.0, 0.0))
    routes.ask(1, question)
    planner.PlannerNode.stop(node)
    server.answer(0, 2)
    routes.ask(2, question)
    assert answers == []
    planner.PlannerNode.stop(SimpleNamespace(_routes=routes, _cycle=cycle, _do=list))
    routes.ask(3, question)
    server.answer(1, 3)
    assert answers == []
    server.answer(2, 4)
    assert answers == [(1, 4)]


class Queue:
    """A subscription to serialized messages in which some wait."""

    def __init__(self, *messages: bytes) -> None:
        self.messages = list(messages)
        self.msg_type, self.raw = object, True
        self.handle = self

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass

    def take_message(self, kind: type, raw: bool) -> tuple[bytes, dict[str, int]] | None:
        assert (kind, raw) == (self.msg_type, self.raw)
        return (self.messages.pop(0), {}) if self.messages else None


@pytest.mark.clause("EST-1")
def test_all_commands_that_wait_are_taken_with_the_first_one() -> None:
    stop, go = pack_bool(True), pack_bool(False)
    queues = {"emergency_stop": Queue(stop, go), "radar_health": Queue(go)}
    inbox = Inbox(print)
    cycle = SimpleNamespace(receive=lambda topic, raw: [inbox.receive(topic, raw, ticking=True)])
    node = SimpleNamespace(_present=lambda: cycle, _do=list, _subscribed=queues)
    for topic in queues:
        planner.PlannerNode._receive(node, topic, go)
    inputs = inbox.take(1)
    assert inputs.emergency_stop.value
    assert [len(queue.messages) for queue in queues.values()] == [0, 1]


@pytest.mark.ros
@pytest.mark.clause("EST-1")
def test_what_waits_in_the_queue_of_a_subscription_is_taken_in_its_order(rig) -> None:
    topic = BY_NAME["emergency_stop"]
    heard: list[bytes] = []
    subscription = rig.node.create_subscription(
        message_class(topic.type), topic.name, heard.append, profile(topic.qos), raw=True
    )
    rig.until(lambda: rig.publishers[topic.name].get_subscription_count() == 1)
    sent = [pack_bool(word) for word in (False, True, True, False)]
    for raw in sent:
        rig.publish(topic.name, raw)
    taken: list[bytes] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(taken) < len(sent):
        assert time.monotonic() < deadline
        taken += waiting(subscription)
    assert taken == sent and heard == []


LISTENER = """
import rclpy
from rclpy.qos import DurabilityPolicy, QoSProfile
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("listener")
qos = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
node.create_subscription(String, "state", lambda message: print(message.data, flush=True), qos)
rclpy.spin(node)
"""


@pytest.mark.ros
@pytest.mark.clause("SIM-2")
def test_in_lock_step_the_plan_waits_for_a_subscriber_of_the_state_that_stalls(rig, map_file):
    from ros.rig import frame

    rig.fork_planner(map_file=map_file, lock_step=True)
    rig.activate()
    rig.send(frame(1.0))
    rig.until_answered(1.0)
    listener = rig.start("-c", LISTENER)
    assert listener.stdout.readline().strip() == "departure/plan_once"
    listener.send_signal(signal.SIGSTOP)
    x = np.arange(0.0, 100.0)
    rig.publish("route", pack_path(1, np.column_stack((x, 0 * x, 0 * x))))
    rig.publishers["route"].wait_for_all_acked()
    rig.send(frame(1.05))
    rig.idle(0.6)
    assert [trajectory.stamp for trajectory in rig.trajectories()] == [1.0]
    listener.send_signal(signal.SIGCONT)
    assert not rig.until_answered(1.05).stands
