"""Runs on one machine are in domains of their own, which nobody else is in."""

from __future__ import annotations

import subprocess
import sys
from contextlib import suppress

import pytest

from ros.domains import new_domain
from tuling_fsm.core.errors import InputError
from tuling_fsm.ros import domains
from tuling_fsm.ros.domains import DOMAINS, DomainClaim, claim_domain
from tuling_fsm.ros.environment import child_environment
from tuling_fsm.ros.processes import ProcessGroup

CLAIM = "from tuling_fsm.ros.domains import claim_domain; c = claim_domain(); print(c.domain, flush=True); input()"


def test_a_domain_that_another_process_has_claimed_is_passed_over() -> None:
    command = [sys.executable, "-c", CLAIM]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, env=child_environment(), text=True, **pipes) as process:
        taken = int(process.stdout.readline())
        with pytest.raises(OSError):
            DomainClaim(taken)
        claim = claim_domain(taken)
        assert claim.domain != taken
        claim.close()
        process.kill()


@pytest.mark.ros
def test_a_domain_with_a_node_in_it_is_passed_over() -> None:
    import rclpy
    from rclpy.context import Context

    claim, context = claim_domain(), Context()
    rclpy.init(context=context, domain_id=claim.domain)
    try:
        node = rclpy.create_node("there", context=context)
        claim.close()
        with pytest.raises(OSError):
            DomainClaim(claim.domain)
        node.destroy_node()
    finally:
        context.try_shutdown()


def test_two_runs_are_in_two_domains_and_leave_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ROS_DOMAIN_ID", raising=False)
    for _ in range(DOMAINS):
        with ProcessGroup() as one, ProcessGroup() as other:
            assert one.environment["ROS_DOMAIN_ID"] != other.environment["ROS_DOMAIN_ID"]


def test_the_domain_of_the_environment_is_taken_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    domain = new_domain()
    monkeypatch.setenv("ROS_DOMAIN_ID", str(domain))
    with ProcessGroup() as group:
        assert group.environment["ROS_DOMAIN_ID"] == str(domain)


def test_an_empty_domain_is_as_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", "")
    with ProcessGroup() as group:
        assert 1 <= int(group.environment["ROS_DOMAIN_ID"]) <= DOMAINS


@pytest.mark.parametrize("text", ["seven", "-1", "233", "1.0", "9" * 5000, "\u0663"])
def test_what_is_no_domain_is_refused_in_one_line(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_DOMAIN_ID", text)
    with pytest.raises(InputError, match=r"^ROS_DOMAIN_ID: .* \(expected a whole number from 0 to 232, or nothing\)$"):
        ProcessGroup()


def test_no_domain_left_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(domains, "DOMAINS", 3)
    claims = []
    with suppress(InputError):
        while True:
            claims.append(claim_domain(1))
    with pytest.raises(InputError, match=r"ROS_DOMAIN_ID: all domains from 1 to 3 are taken \(expected a domain of"):
        claim_domain(2)
    for claim in claims:
        claim.close()
