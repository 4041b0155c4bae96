"""Messages pass, are lost, come twice or too late, as the fault of the link says."""

from __future__ import annotations

import itertools

from tuling_fsm.fault_injection.link import OVERTAKEN_FRAMES, LinkFault, LinkMessage, MessageLink, link_streams

FRAMES = 400


def sent(frame: int) -> list[LinkMessage[int]]:
    return [LinkMessage("objects", frame), LinkMessage("odometry", frame)]


def received(fault: LinkFault, seed: int = 1, frames: int = FRAMES) -> list[list[LinkMessage[int]]]:
    link: MessageLink[int] = MessageLink(link_streams(seed, "cell")[0])
    link.fault = fault
    return [link.pass_on(frame, sent(frame)) for frame in range(frames)]


def test_a_sound_link_passes_everything_on_its_frame() -> None:
    assert received(LinkFault()) == [sent(frame) for frame in range(FRAMES)]


def test_a_share_of_the_messages_is_lost_of_the_topics_that_it_is_wrong_with() -> None:
    arrived = received(LinkFault(lost=0.2))
    assert 0.75 < sum(map(len, arrived)) / (2 * FRAMES) < 0.85
    only = received(LinkFault(lost=1.0, topics=frozenset({"objects"})))
    assert only == [[LinkMessage("odometry", frame)] for frame in range(FRAMES)]


def test_every_message_comes_twice() -> None:
    first, second = sent(0)
    assert received(LinkFault(doubled=True), frames=1) == [[first, first, second, second]]


def test_what_is_overtaken_comes_behind_later_messages_and_nothing_is_lost() -> None:
    arrived = received(LinkFault(reordered=0.2))
    numbers = [message.content for frame in arrived for message in frame if message.topic == "odometry"]
    late = [later for earlier, later in itertools.pairwise(numbers) if later < earlier]
    assert 0.1 < len(late) / FRAMES < 0.25
    assert set(range(FRAMES - OVERTAKEN_FRAMES)) <= set(numbers)
    at = {message.content: k for k, frame in enumerate(arrived) for message in frame if message.topic == "odometry"}
    assert {at[number] - number for number in at} == {0, OVERTAKEN_FRAMES}


def test_a_run_repeats_and_another_seed_or_cell_draws_otherwise() -> None:
    fault = LinkFault(lost=0.2)
    assert received(fault) == received(fault)
    assert received(fault) != received(fault, seed=2)
    assert link_streams(1, "a")[0].generate_state(2).tolist() != link_streams(1, "b")[0].generate_state(2).tolist()
