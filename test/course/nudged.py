"""Runs a script with sines and cosines that are off by their last bit: `nudged.py SEED SCRIPT FILE`."""

import math
import random
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np


def nudged(function: Callable, after: Callable, rng: random.Random) -> Callable:
    """The function, one representable number off, up or down."""
    return lambda value: after(function(value), rng.choice((-math.inf, math.inf)))


def main() -> None:
    """Run the script with its arguments."""
    seed, script, *arguments = sys.argv[1:]
    rng = random.Random(int(seed))
    for module, after in ((math, math.nextafter), (np, np.nextafter)):
        for name in ("sin", "cos"):
            setattr(module, name, nudged(getattr(module, name), after, rng))
    sys.path.insert(0, str(Path(script).parent))
    sys.argv = [script, *arguments]
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
