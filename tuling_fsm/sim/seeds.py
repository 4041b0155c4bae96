"""Independent random streams drawn from the one seed of a run (SIM-2)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Stream = np.random.SeedSequence


class Seeds(NamedTuple):
    """A stream for each part of the simulator that draws anything. Their order decides what each of them draws."""

    setting: Stream
    cast: Stream
    traffic: Stream
    walkers: Stream
    lights: Stream
    sensors: Stream
    storyboard: Stream

    @classmethod
    def of(cls, seed: int) -> Seeds:
        """The streams of a run."""
        return cls(*Stream(seed).spawn(len(cls._fields)))


def generator(stream: Stream) -> np.random.Generator:
    """What draws from a stream."""
    return np.random.Generator(np.random.PCG64(stream))
