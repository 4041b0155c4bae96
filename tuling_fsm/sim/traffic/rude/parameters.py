"""How rude agents drive and walk. Ranges are drawn evenly, once for each agent or event."""

from __future__ import annotations

from dataclasses import dataclass

from tuling_fsm.core.parameters import param


@dataclass(frozen=True)
class RudeParameters:
    """Numbers of the rude part of the population; its share is the scenario's."""

    speed_least: float = param(0.8, "", 0.1, 2.0, "share of the speed limit that is driven, at least")
    speed_most: float = param(1.15, "", 0.1, 2.0, "and at most")
    standing_gap: float = param(1.0, "m", 0.2, 10.0, "gap to the leader at standstill")
    gap_least: float = param(0.5, "s", 0.0, 10.0, "time gap to crossing traffic that is thought enough, at least")
    gap_most: float = param(2.0, "s", 0.0, 10.0, "and at most")
    refuses: float = param(0.3, "", 0.0, 1.0, "share of junctions that are entered without a look at what comes")
    ignores_signs: float = param(0.5, "", 0.0, 1.0, "share of stop signs that are not stopped at")
    red_most: float = param(2.0, "s", 0.0, 10.0, "a light that is red for less than a share of this is run")
    brake_rate: float = param(0.006, "1/s", 0.0, 1.0, "how often it brakes hard for no cause")
    brake_decel: float = param(6.0, "m/s^2", 1.0, 8.0, "how hard")
    brake_most: float = param(2.0, "s", 0.2, 10.0, "for how long, at most")
    stop_rate: float = param(0.003, "1/s", 0.0, 1.0, "how often it stops in its lane with hazard lights")
    stop_decel: float = param(2.5, "m/s^2", 0.5, 8.0, "how hard it brakes for that")
    stop_least: float = param(10.0, "s", 0.0, 600.0, "for how long, at least")
    stop_most: float = param(40.0, "s", 0.0, 600.0, "and at most")
    cut_in_rate: float = param(0.3, "1/s", 0.0, 10.0, "how often it cuts in while a vehicle is close behind beside it")
    cut_in_least: float = param(
        1.0, "m", 0.0, 50.0, "from the other's bumper to its own tail once in its lane, at least"
    )
    cut_in_most: float = param(8.0, "m", 0.0, 50.0, "and as it begins, at most")
    run_out_share: float = param(0.5, "", 0.0, 1.0, "share of crossings that a rude pedestrian runs over unlooking")
    run_out_rate: float = param(0.004, "1/s", 0.0, 10.0, "how often it runs across the road from anywhere")
    red_share: float = param(0.5, "", 0.0, 1.0, "share of its crossings that are begun on a red light")
