"""How values of parameters and variables are compared (OpenSCENARIO XML 1.3, `Rule` and `ParameterType`)."""

from __future__ import annotations

from tuling_fsm.sim.scenario.conditions import Relation, ValueType
from tuling_fsm.sim.scenario.monitors import SIZES, compared
from tuling_fsm.sim.scenario.xml.elements import XmlElement

RULES = {
    "lessThan": Relation.LESS,
    "lessOrEqual": Relation.LESS_EQUAL,
    "equalTo": Relation.EQUAL,
    "notEqualTo": Relation.UNEQUAL,
    "greaterOrEqual": Relation.GREATER_EQUAL,
    "greaterThan": Relation.GREATER,
}
_COMPARISONS = {
    "boolean": ValueType.TRUTH,
    "dateTime": ValueType.TIME,
    **dict.fromkeys(("double", "int", "integer", "unsignedInt", "unsignedShort"), ValueType.NUMBER),
}
"""By the type of a declaration; values of any other are words."""
_UNORDERED = (ValueType.WORD, ValueType.TRUTH)


def comparison(element: XmlElement, name: str, kind: str) -> tuple[Relation, str, ValueType]:
    """The `rule` and the `value` of an element that something of a type is compared with, and how.

    Raises:
        InputError: the type has no order, or the value is not of it.
    """
    rule, value, how = element.choice("rule", RULES), element.text("value"), _COMPARISONS.get(kind, ValueType.WORD)
    if how in _UNORDERED and rule not in (Relation.EQUAL, Relation.UNEQUAL):
        raise element.fault(f"{name!r} is a {kind}, which has no order", "equalTo, notEqualTo", "rule")
    if how is not ValueType.WORD and SIZES[how](value) is None:
        raise element.fault(f"value is {value!r}", f"one to compare {name!r} with, a {kind}", "value")
    return rule, value, how


def check_constraints(declaration: XmlElement, value: str) -> None:
    """Refuse a value of a parameter that fulfils none of its groups of constraints, where there are any.

    Raises:
        InputError: it does not.
    """
    name, kind = declaration.name(), declaration.text("parameterType", "string")
    groups = [
        [comparison(each, name, kind) for each in group.all("ValueConstraint")]
        for group in declaration.all("ConstraintGroup")
    ]
    if groups and not any(all(compared(value, *each) for each in group) for group in groups):
        allowed = " or ".join(" and ".join(f"{rule.value} {wanted}" for rule, wanted, _ in group) for group in groups)
        raise declaration.fault(f"{name} is {value!r}", f"a value {allowed}")
