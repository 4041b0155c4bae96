"""Which action has set what last: the end of one takes back what no other has set since."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace

from tuling_fsm.sim.scenario import commands
from tuling_fsm.sim.scenario.commands import Command

Setting = tuple[type[Command], Hashable]
"""What there is one of in the world: the kind of command that sets it, and which of several it is."""


class ActionSettings:
    """What the actions of a run have set, each by the last that did so."""

    def __init__(self) -> None:
        self._setters: dict[Setting, object] = {}

    def begin(self, action: object, begins: Sequence[Command]) -> None:
        """An action issues the commands of its begin: it overrides those before that have set the same."""
        for command in begins:
            if isinstance(command, commands.SetAllLights):
                self._setters = {key: by for key, by in self._setters.items() if key[0] is not commands.SetLight}
            self._setters.update(dict.fromkeys(_set_by(command), action))

    def end(self, action: object, ends: Sequence[Command]) -> list[Command]:
        """What is left to issue of the commands of its end."""
        left = [command for end in ends if (command := self._left(action, end)) is not None]
        over = {key for end in ends for key in _set_by(end) if self._setters.get(key) is action}
        self._setters = {key: by for key, by in self._setters.items() if key not in over}
        return left

    def _left(self, action: object, end: Command) -> Command | None:
        keys = _set_by(end)
        own = [key for key in keys if self._setters.get(key) is action]
        if keys and not own:
            return None
        match end:
            case commands.VacateSpaces(spaces):
                return replace(end, spaces=tuple(space for space in spaces if (commands.OccupySpaces, space) in own))
            case commands.SetAllLights():
                since = (which for kind, which in self._setters if kind is commands.SetLight)
                return replace(end, but=tuple(which for which in since if isinstance(which, int)))
            case _:
                return end


def _set_by(command: Command) -> tuple[Setting, ...]:
    """What a command sets or takes back; of maneuvers `StoryboardStep` knows which has replaced which."""
    match command:
        case commands.CloseRoad():
            return ((commands.CloseRoad, command),)
        case commands.OpenRoad(_, row):
            return () if row is None else ((commands.CloseRoad, row),)
        case commands.OccupySpaces(spaces) | commands.VacateSpaces(spaces):
            return tuple((commands.OccupySpaces, space) for space in spaces)
        case commands.SetLight(signal):
            return ((commands.SetLight, signal),)
        case commands.DisturbSensor(sensor) | commands.ResetSensor(sensor):
            return ((commands.DisturbSensor, sensor),)
        case commands.ActivateController(actor):
            return ((commands.ActivateController, actor),)
        case (
            commands.SetRain() | commands.SetFog() | commands.SetLocalization() | commands.SetOdometry()
            | commands.EmergencyStop() | commands.EmergencyLink() | commands.SetAllLights() | commands.SilenceLights()
            | commands.SetRouteServer()
        ):  # fmt: skip
            return ((type(command), None),)
        case _:
            return ()
