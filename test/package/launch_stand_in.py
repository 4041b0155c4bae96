"""Stands in for `launch` and `launch_ros`, which no package index has: a description is what was asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

NAMES = {
    "launch": ("LaunchContext", "LaunchDescription", "LaunchDescriptionEntity"),
    "launch.actions": ("DeclareLaunchArgument", "EmitEvent", "ExecuteProcess", "RegisterEventHandler", "Shutdown"),
    "launch.conditions": ("IfCondition",),
    "launch.event_handlers": ("OnProcessExit",),
    "launch.events": ("matches_action",),
    "launch.events.process": ("ProcessExited",),
    "launch.substitutions": ("LaunchConfiguration", "PathJoinSubstitution"),
    "launch_ros": (),
    "launch_ros.actions": ("LifecycleNode", "Node"),
    "launch_ros.event_handlers": ("OnStateTransition",),
    "launch_ros.events": (),
    "launch_ros.events.lifecycle": ("ChangeState",),
    "launch_ros.parameter_descriptions": ("ParameterValue",),
    "lifecycle_msgs": (),
    "lifecycle_msgs.msg": (),
    "ament_index_python": (),
    "ament_index_python.packages": (),
}
"""What launch files import, by module. An import of anything else fails, as it would with a misspelt name."""
SHARED = "tuling_fsm.ros.launching"


@dataclass(eq=False)
class Said:
    """One call: the name of the class, and its arguments."""

    name: str
    positional: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)

    def every(self, *names: str) -> list[Said]:
        """All calls of these classes in it, at any depth, in order; one that occurs twice counts once."""
        found: dict[int, Said] = {}
        _walk(self, names, found)
        return list(found.values())


def _walk(value: Any, names: tuple[str, ...], found: dict[int, Said]) -> None:
    if isinstance(value, Said):
        if value.name in names:
            found.setdefault(id(value), value)
        for part in (*value.positional, *value.named.values()):
            _walk(part, names, found)
    elif isinstance(value, dict):
        for part in value.values():
            _walk(part, names, found)
    elif isinstance(value, list | tuple):
        for part in value:
            _walk(part, names, found)


def _maker(name: str) -> Callable[..., Said]:
    def make(*positional: Any, **named: Any) -> Said:
        return Said(name, positional, named)

    return make


def install(monkeypatch: Any, share: str) -> None:
    """Put the modules where they are imported from; `share` is the package's share directory."""
    modules = {}
    for module, names in NAMES.items():
        made = modules[module] = ModuleType(module)
        made.__path__ = []
        for name in names:
            setattr(made, name, _maker(name))
    transition = type("Transition", (), {"TRANSITION_CONFIGURE": 1, "TRANSITION_ACTIVATE": 3})
    modules["lifecycle_msgs.msg"].Transition = transition
    modules["ament_index_python.packages"].get_package_share_directory = lambda package: share
    for module, made in modules.items():
        monkeypatch.setitem(sys.modules, module, made)
    monkeypatch.setitem(sys.modules, SHARED, ModuleType(SHARED))
    del sys.modules[SHARED]  # What the launch files share is loaded anew, and forgotten with the stand-in.
