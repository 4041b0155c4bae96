"""DDS domains of tests that run at once: no two share one, so that none hears the nodes of another."""

from __future__ import annotations

from collections import deque

from tuling_fsm.ros.domains import DomainClaim, claim_domain

_KEPT = 20
"""More than one test needs; the processes of the one before may still be ending."""
_claims: deque[DomainClaim] = deque()


def new_domain() -> int:
    """A domain that nobody on this machine is in, nor will be while this process takes the next few."""
    _claims.append(claim_domain(_claims[-1].domain + 1 if _claims else None))
    if len(_claims) > _KEPT:
        _claims.popleft().close()
    return _claims[-1].domain
