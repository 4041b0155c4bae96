"""Where the time of a recorded drive went (EXPL-1)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import itemgetter
from pathlib import Path

from tuling_fsm.agent import Parameters
from tuling_fsm.bag.replay import map_of, parameters_of
from tuling_fsm.bag.source import BagSource
from tuling_fsm.bag.ticks import read_run_record
from tuling_fsm.bag.timeline import MotionSample, Timeline, read_timeline
from tuling_fsm.core.errors import InputError
from tuling_fsm.core.time_loss import LONGEST_GAP_S, TimeLosses, TimeLossSample, time_losses
from tuling_fsm.map.opendrive import read_map
from tuling_fsm.map.speed_limits import SpeedLimits

UNKNOWN = "unknown"
"""State and code before the first word of them."""
_GAP = "gap"


def read_time_losses(bag: BagSource, map_file: str | Path | None = None) -> TimeLosses:
    """What a bag tells of the time that was lost, by state and code.

    Args:
        bag: of a run or of the car, as for `read_timeline`.
        map_file: OpenDRIVE map instead of the one that the bag names.

    Raises:
        InputError: no bag, a damaged one, one in which the planner says nothing, that does not tell how the car moved,
            or that names no map.
    """
    timeline, run = read_timeline(bag), read_run_record(bag)
    if not timeline.motion:
        raise InputError(str(bag), "how the car moved is not in it", "the topic odometry or trajectory")
    parameters: Parameters = parameters_of(run, str(bag))
    limits = SpeedLimits(read_map(map_of(run, str(bag), map_file, bag.report)), parameters.vehicle.max_speed)
    return time_losses(_samples(timeline, limits))


def _samples(timeline: Timeline, limits: SpeedLimits) -> Iterator[TimeLossSample]:
    """A sample for each of the motion, and for each change of state or limit between two; how fast the car is in a gap
    of the motion nobody knows.
    """
    said: list[tuple[float, str, str | MotionSample]]
    said = [(t, "state", word) for t, topic, word in timeline.words if topic == "state"]
    said += [(why.t, "code", why.code or UNKNOWN) for why in timeline.whys]
    said += [(each.t, "motion", each) for each in timeline.motion]
    said += [(t, _GAP, "") for t in _gaps(timeline.motion)]
    held = {"state": UNKNOWN, "code": UNKNOWN}
    moved: MotionSample | None = None
    known = False
    for t, what, value in sorted(said, key=itemgetter(0)):
        known = what != _GAP and (known or what == "motion")
        if isinstance(value, MotionSample):
            moved = value
        else:
            held[what] = value
        if moved is not None:
            v = moved.v if known else None
            yield TimeLossSample(t, held["state"], held["code"], v, limits.at(moved.pose))


def _gaps(motion: Sequence[MotionSample]) -> Iterator[float]:
    """Stamps (s) from which on the motion is not known for long, the last one among them."""
    yield from (each.t for each, after in pairwise(motion) if after.t - each.t > LONGEST_GAP_S)
    yield from (each.t for each in motion[-1:])
