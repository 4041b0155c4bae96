"""DDS domains of runs on one machine: each run in one of its own, so that none hears the nodes of another.

Their ports are those of the interoperability wire protocol ([omg2022][], default port numbers).
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterable

from tuling_fsm.core.errors import InputError

CHOSEN = "ROS_DOMAIN_ID"
"""Variable of the environment for the domain of all programs of a shell."""
LAST_DOMAIN = 232
"""The last whose ports are ports."""
DOMAINS = 101
"""DDS domains whose ports lie below those that Linux hands out by itself, from 1 on."""
_PORT_BASE, _DOMAIN_GAIN, _UNICAST, _PARTICIPANT_GAIN = 7400, 250, 10, 2
_DIGITS = 9
"""Of a number that is read at all."""
_PARTICIPANTS = 20
"""Participants of one domain that are looked for: one that came late may be the last that is left."""


class DomainClaim:
    """A domain for the one who claims it, until it is closed or its process ends; closing twice does nothing.

    The claim is a TCP port, which DDS leaves alone, where it has its UDP ports.

    Args:
        domain: its number, from 1 to `DOMAINS`.

    Raises:
        OSError: another process has claimed it, or there are nodes in it.
    """

    def __init__(self, domain: int) -> None:
        self.domain = domain
        first = _PORT_BASE + _DOMAIN_GAIN * domain
        self._held = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            self._held.bind(("127.0.0.1", first))
            for port in (first, *(first + _UNICAST + _PARTICIPANT_GAIN * k for k in range(_PARTICIPANTS))):
                with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
                    probe.bind(("", port))
        except OSError:
            self._held.close()
            raise

    def close(self) -> None:
        """Leave the domain to others."""
        self._held.close()


def chosen_domain() -> int | None:
    """The domain that the environment says, if it does.

    Raises:
        InputError: there is no such domain.
    """
    text = os.environ.get(CHOSEN, "")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS and int(text) <= LAST_DOMAIN):
        raise InputError(CHOSEN, repr(text), f"a whole number from 0 to {LAST_DOMAIN}, or nothing")
    return int(text)


def claim_domain(first: int | None = None) -> DomainClaim:
    """The first free domain from a number on, round and round.

    Args:
        first: number to begin with; None takes one by the process's own id.

    Raises:
        InputError: there is none.
    """
    start = os.getpid() if first is None else first - 1
    for domain in _round(start):
        try:
            return DomainClaim(domain)
        except OSError:
            continue
    raise InputError(CHOSEN, f"all domains from 1 to {DOMAINS} are taken", "a domain of your own choice")


def _round(start: int) -> Iterable[int]:
    return ((start + k) % DOMAINS + 1 for k in range(DOMAINS))
