"""What a state may do, and what its lights tell other road users (USE-14).

Every state declares its permissions with its `LeafBehaviour`; `tables.permissions` looks them up by path.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple


class Indication(Enum):
    """Which light a state shows."""

    MANEUVER = "maneuver"
    """The one of the plan or the route: a change of lane, a turn, or none."""
    KERB = "kerb"
    """That of the kerb, unless the plan shows the other side."""
    HAZARD = "hazard"
    """Both sides: the car stands, or may go anywhere."""


class Permissions(NamedTuple):
    """What a state may do."""

    cross_lines: bool
    """Solid lines and the direction of lanes do not hold."""
    leave_road: bool
    """The edges of the road do not hold."""
    stand: bool
    """Standing needs no other reason."""
    indication: Indication


ON_LANES = Permissions(cross_lines=False, leave_road=False, stand=False, indication=Indication.MANEUVER)
"""All rules hold."""
FREE_SPACE = Permissions(cross_lines=True, leave_road=True, stand=False, indication=Indication.MANEUVER)
"""Neither lines nor edges do."""
ROADSIDE = Permissions(cross_lines=True, leave_road=False, stand=False, indication=Indication.HAZARD)
"""On the road, beside its lanes."""
