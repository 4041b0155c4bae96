"""The hierarchical state-machine planner of a low-speed autonomous competition car, and its simulator.

What a program needs is named here, and imported when it is used first: `import tuling_fsm` takes no time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tuling_fsm.agent import Agent, Tick
    from tuling_fsm.api import load_map, read_run, replay, simulate
    from tuling_fsm.planning import plan_free_space
    from tuling_fsm.version import __version__
    from tuling_fsm.world.inputs import Inputs

__all__ = [
    "Agent",
    "Inputs",
    "Tick",
    "__version__",
    "load_map",
    "plan_free_space",
    "read_run",
    "replay",
    "simulate",
]

_WHERE = {
    "Agent": "agent",
    "Inputs": "world.inputs",
    "Tick": "agent",
    "__version__": "version",
    "load_map": "api",
    "plan_free_space": "planning",
    "read_run": "api",
    "replay": "api",
    "simulate": "api",
}
"""By name: the module that it comes from."""


def __getattr__(name: str) -> object:
    """A name of `__all__`, from its module.

    Raises:
        AttributeError: there is no such name.
    """
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_WHERE[name]}"), name)
    return value


def __dir__() -> list[str]:
    """What there is to complete."""
    return sorted({*globals(), *__all__})
