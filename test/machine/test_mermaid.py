"""The diagram shows the whole table."""

from __future__ import annotations

from tuling_fsm.machine.elements import Leaf, Priority, Region, Row
from tuling_fsm.machine.mermaid import mermaid, mermaid_composites
from tuling_fsm.machine.table import Table


def leave(_: object) -> bool:
    return True


def come_back(_: object) -> bool:
    return True


def test_states_are_nested_and_rows_carry_guard_dwell_and_clause() -> None:
    watch: Table[object, None] = Table(
        "watch",
        "off",
        (Leaf("off", None), Leaf("on", None)),
        (
            Row("off", "on", leave, Priority.SAFETY, 0, clause="T-3", dwell_s=0.0),
            Row("on", "off", come_back, Priority.PROGRESS, 0, clause="T-4"),
        ),
        supervises=True,
    )
    table: Table[object, None] = Table(
        "t",
        "out",
        (
            Region("out", "a", (Leaf("a", None, retry_s=1.0), Leaf("later", None, enabled=False))),
            Leaf("end", None, terminal=True),
        ),
        (Row("out/a", "end", leave, Priority.MISSION, 2, clause="T-1", dwell_s=1.5),),
        beside=(watch,),
    )
    assert mermaid(table).splitlines() == [
        "stateDiagram-v2",
        "    [*] --> out",
        '    state "out" as out {',
        "        [*] --> out__a",
        '        state "a" as out__a',
        '        state "later (disabled)" as out__later',
        "    }",
        '    state "end" as end',
        "    end --> [*]",
        "    out__a --> end : leave 1.5 s, mission 2 [T-1]",
        "    state watch {",
        "        [*] --> watch__off",
        '        state "off" as watch__off',
        '        state "on" as watch__on',
        "        watch__off --> watch__on : leave 0 s, safety 0 [T-3]",
        "        watch__on --> watch__off : come_back 0.3 s, progress 0 [T-4]",
        "    }",
    ]


def test_the_small_diagram_has_each_pair_of_composites_once_and_nothing_that_is_never_entered() -> None:
    def leaves(*names: str, enabled: bool = True) -> tuple[Leaf[None], ...]:
        return tuple(Leaf(name, None, retry_s=1.0, enabled=enabled) for name in names)

    table: Table[object, None] = Table(
        "t",
        "out",
        (
            Region("out", "a", leaves("a", "b")),
            Region("in", "c", leaves("c")),
            Region("off", "d", leaves("d", enabled=False)),
        ),
        (
            Row("out/a", "in", leave, Priority.MISSION, 0, clause="T-1"),
            Row("out/b", "in/c", leave, Priority.MISSION, 0, clause="T-1"),
            Row("out/a", "out/b", come_back, Priority.MISSION, 1, clause="T-2"),
            Row("in", "out/a", come_back, Priority.MISSION, 0, clause="T-3"),
        ),
    )
    assert mermaid_composites(table).splitlines() == [
        "stateDiagram-v2",
        "    [*] --> out",
        "    out",
        "    in",
        "    out --> in",
        "    in --> out",
    ]
