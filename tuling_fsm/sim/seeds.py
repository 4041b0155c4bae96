"""Independent random streams drawn from the one seed of a run (SIM-2)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tuling_fsm.core import elementwise
from tuling_fsm.core.arrays import FloatArray

Stream = np.random.SeedSequence


class SeedStreams(NamedTuple):
    """A stream for each part of the simulator that draws anything. Their order decides what each of them draws."""

    setting: Stream
    scripted: Stream
    traffic: Stream
    pedestrians: Stream
    lights: Stream
    sensors: Stream
    storyboard: Stream
    rude: Stream

    @classmethod
    def of(cls, seed: int) -> SeedStreams:
        """The streams of a run."""
        return cls(*Stream(seed).spawn(len(cls._fields)))


def generator(stream: Stream) -> np.random.Generator:
    """What draws from a stream."""
    return np.random.Generator(np.random.PCG64(stream))


def normal(random: np.random.Generator, deviation: float, count: int) -> FloatArray:
    """Normally distributed numbers (count,) about 0 ([box1958][]): those of numpy come by the machine's own
    logarithm.
    """
    radius = np.sqrt(-2.0 * elementwise.log(1.0 - random.random(count)))
    return np.asarray(deviation * radius * elementwise.cos(2.0 * math.pi * random.random(count)))
