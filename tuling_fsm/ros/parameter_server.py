"""Declared parameters as a node's ROS parameters: typed, with range and unit in their descriptors, checked when set."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Iterable, Mapping

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.parameters import ParameterSpec, Scalar

_LARGEST_INTEGER = 2**63 - 1
_OF_ROS = ("use_sim_time", "qos_overrides", "start_type_description_service")
"""Names that every node has."""


class ParameterServer:
    """The parameters of one node.

    Args:
        node: built with `automatically_declare_parameters_from_overrides=True`, so that a misspelt name can be told.
        specs: what may be set.
        load: makes use of all values, by their dotted names; refuses those that contradict one another.
        of_others: names that a file for several nodes may have, without effect here.

    Raises:
        InputError: an unknown parameter, a wrong type, a value out of range.
    """

    def __init__(
        self,
        node: Node,
        specs: Iterable[ParameterSpec],
        load: Callable[[Mapping[str, Scalar]], object] | None = None,
        of_others: Collection[str] = (),
    ) -> None:
        self._specs = {spec.name: spec for spec in specs}
        self._load = load
        self.fixed = True
        """Whether parameters that are not live are in use, and so cannot be changed."""
        self.values: dict[str, Scalar] = {}
        """Dotted names and present values."""
        self.changed = False
        """A value was set since this was last cleared."""
        self._declare(node, of_others)
        node.add_on_set_parameters_callback(self._set)

    def _declare(self, node: Node, of_others: Collection[str]) -> None:
        given = {name for name in node.list_parameters([], 0).names if not name.startswith(_OF_ROS)}
        for name in sorted(given & (set(of_others) - set(self._specs))):
            node.undeclare_parameter(name)
        for name in sorted(given - set(self._specs) - set(of_others)):
            near = difflib.get_close_matches(name, self._specs, n=1)
            raise InputError(f"parameter {name}", "no such parameter", near[0] if near else "one of the declared ones")
        for name, spec in self._specs.items():
            value = spec.default
            if name in given:
                value = spec.check(node.get_parameter(name).value)
                node.undeclare_parameter(name)
            self.values[name] = value
            node.declare_parameter(name, value, descriptor(spec), ignore_override=True)

    def _set(self, parameters: list[Parameter]) -> SetParametersResult:
        values: dict[str, Scalar] = {}
        for parameter in parameters:
            spec = self._specs.get(parameter.name)
            if spec is None:
                continue
            try:
                values[spec.name] = spec.check(parameter.value)
            except InputError as error:
                return SetParametersResult(successful=False, reason=str(error))
            if self.fixed and not spec.live and values[spec.name] != self.values[spec.name]:
                reason = f"{spec.name}: takes effect on configure only (expected a node that is unconfigured)"
                return SetParametersResult(successful=False, reason=reason)
        if self.fixed and self._load is not None:
            try:
                self._load({**self.values, **values})
            except InputError as error:
                return SetParametersResult(successful=False, reason=str(error))
        self.values.update(values)
        self.changed = self.changed or bool(values)
        return SetParametersResult(successful=True)


def descriptor(spec: ParameterSpec) -> ParameterDescriptor:
    """Type, range, unit and clause for `ros2 param describe`."""
    notes = [note for note in (spec.unit, spec.clause, "live" if spec.live else "") if note]
    made = ParameterDescriptor(
        description=spec.doc + (f" [{', '.join(notes)}]" if notes else ""),
        additional_constraints=f"one of {', '.join(spec.choices)}" if spec.choices else "",
    )
    if type(spec.default) is float and (spec.low is not None or spec.high is not None):
        low = float("-inf") if spec.low is None else float(spec.low)
        high = float("inf") if spec.high is None else float(spec.high)
        made.floating_point_range = [FloatingPointRange(from_value=low, to_value=high, step=0.0)]
    elif type(spec.default) is int and (spec.low is not None or spec.high is not None):
        low_integer = -_LARGEST_INTEGER if spec.low is None else int(spec.low)
        high_integer = _LARGEST_INTEGER if spec.high is None else int(spec.high)
        made.integer_range = [IntegerRange(from_value=low_integer, to_value=high_integer, step=0)]
    return made
