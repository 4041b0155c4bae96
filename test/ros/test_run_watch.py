"""What the simulator learns of the planner from its topics."""

from __future__ import annotations

import pytest

from tuling_fsm.ros.run_watch import RunWatch
from tuling_fsm.wire.text import pack_json

ROWS = ((1.0, "a", "b"), (2.0, "b", "a"), (2.5, "a", "a"), (2.8, "a", "b"), (3.6, "b", "a"), (4.4, "a", "b"))


@pytest.mark.clause("USE-1")
@pytest.mark.parametrize(("slower", "supervisor", "flaps"), [(1.0, False, 2), (10.0, False, 0), (1.0, True, 0)])
def test_flaps_are_counted_as_the_planner_counts_them(slower: float, supervisor: bool, flaps: int) -> None:
    watch = RunWatch()
    for seq, (stamp, source, dest) in enumerate(ROWS):
        event = {"seq": seq, "stamp": slower * stamp, "from": source, "to": dest, "supervisor": supervisor}
        rest = {"clause": "NOR-7", "guard": "no_path", "dwell_s": 0.3, "rejected": []}
        watch.receive("transition", pack_json(event | rest))
    assert watch.log.flaps == flaps
