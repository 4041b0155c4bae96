"""What machines have found, each by a small file: one clear line where once was a traceback, a hang or silence."""

from __future__ import annotations

from pathlib import Path

import pytest

from tuling_fsm.fuzz.bags import BagMessage, bag_file
from tuling_fsm.fuzz.targets import CORPUS, TARGETS
from tuling_fsm.fuzz.trial import attempt
from tuling_fsm.share import share_file

XOSC = (CORPUS / "cut_in.xosc").read_text(encoding="utf-8")
OSC = "scenario a:\n    ego: vehicle\n    {line}\n    do serial:\n        ego.drive()\n"
NURBS = """<Nurbs order="{order}">
<ControlPoint weight="{weight}"><Position><WorldPosition x="0" y="0"/></Position></ControlPoint>
<ControlPoint><Position><WorldPosition x="9" y="0"/></Position></ControlPoint>{knots}</Nurbs>"""


def knots(*values: float) -> str:
    return "".join(f'<Knot value="{value}"/>' for value in values)


def following(shape: str) -> str:
    """The scenario with another trajectory to follow."""
    begin, end = XOSC.index("<Polyline>"), XOSC.index("</Polyline>") + len("</Polyline>")
    return XOSC[:begin] + shape + XOSC[end:]


def clothoid(length: str, curvature: str) -> str:
    place = '<Position><WorldPosition x="0" y="0"/></Position>'
    return following(f'<Clothoid length="{length}" curvature="{curvature}" curvaturePrime="0">{place}</Clothoid>')


ROAD_OF_20000_KM = """<OpenDRIVE><header revMajor="1" revMinor="7"/><road id="3" length="35" junction="-1"><planView>
<geometry s="1" x="68.9" y="4.7" hdg="0.75" length="20">
<paramPoly3 pRange="arcLength" aU="0" bU="1" cU="0" dU="0" aV="0" bV="0" cV="0.01" dV="-0.0001"/></geometry>
<geometry s="20" x="83" y="20000000" hdg="0.8" length="15"><poly3 a="0" b="0" c="0.002" d="100"/></geometry></planView>
<lanes><laneSection s="0"><left><lane id="1" type="driving"><width sOffset="0" a="3.5" b="0" c="0" d="0"/></lane></left>
<center><lane id="0" type="none"/></center></laneSection></lanes></road></OpenDRIVE>"""


FOUND = [
    ("map", ROAD_OF_20000_KM, None),
    ("xml", XOSC.replace('laneId="-1"', 'laneId="INF"', 1), "<LanePosition>: laneId is 'INF'"),
    ("xml", XOSC.replace('laneId="-1"', 'laneId="-99999999"', 1), "a number from -1000 to 1000"),
    ("xml", XOSC.replace('maximumExecutionCount="1"', 'maximumExecutionCount="-INF"'), None),
    ("xml", XOSC.replace('s="60.0"', 's="1e308"'), "a number from -200000 to 200000 m"),
    (
        "xml",
        XOSC.replace(
            "<Storyboard>", '<RoadNetwork><LogicFile filepath="' + "a" * 300 + '"/></RoadNetwork><Storyboard>'
        ),
        None,
    ),
    ("xml", XOSC.replace('s="60.0"', 's="${' + "9" * 200 + "*" + "9" * 200 + '}"'), "the result is too large"),
    ("xml", XOSC.replace('s="60.0"', 's="${' + "(" * 500 + "1" + ")" * 500 + '}"'), "(expected "),
    ("xml", following("<Polyline></Polyline>"), "<Polyline>: 0 vertices (expected two or more)"),
    ("xml", following(NURBS.format(order=2, weight=0.0, knots=knots(0, 0, 1, 1))), "weight is '0.0'"),
    ("xml", following(NURBS.format(order=2, weight=1.0, knots=knots(0, 5, 1, 1))), "knots that ascend"),
    ("xml", following(NURBS.format(order=3, weight=1.0, knots=knots(0, 0, 0, 1, 1))), "order 3 of 2 control points"),
    ("xml", clothoid("1e12", "0.1"), "a number from 0 to 200000 m"),
    ("xml", clothoid("1000", "50"), "turns 100 rad at most"),
    ("xml", XOSC.replace('ScenarioObject name="npc"', 'ScenarioObject name="' + "a" * 70_000 + '"'), "no entity 'npc'"),
    ("dsl", OSC.format(line="keep(ego.length == 1e308m)"), "the number is too large"),
    ("dsl", OSC.format(line="x: length = 1e12m"), "at most 1e+10 m"),
    ("dsl", OSC.format(line='x: string = "\\\\x"').replace("\\\\", "\\"), "is no text"),
    ("dsl", "enum e: [a = " + "9" * 5000 + "]\n" + OSC.format(line="x: int = 1"), "a number of 5000 digits"),
    ("dsl", OSC.format(line="x: int = 0x" + "f" * 5000), "a number of 5002 digits"),
    ("dsl", 'import "' + "a" * 400 + '"\n' + OSC.format(line="x: int = 1"), "no file"),
    ("mission", '{"goal": {"x": 1e300, "y": 0}}', "a number from -1e+08 to 1e+08 m"),
    ("mission", '{"goal": {"x": 0, "y": 0, "\\u001b[31m": 1}}', "mission.goal.\\x1b[31m: no such key"),
    ("mission", '{"window": {"x": 0, "y": 0, "time_s": [0, 1e9]}}', "a number from 0 to 1e+07 s"),
    ("mission", '{"tasks": [' + "0," * 10_000 + "0]}", "10001 members (expected at most 10000)"),
    ("parameters", "/**: {ros__parameters: {vehicle: {? [1] : 2}}}", "(expected "),
    ("parameters", "/**: {ros__parameters: {vehicle: {1: 2, width: 3}}}", "vehicle.1: no such parameter"),
    ("parameters", "/**: {ros__parameters: {vehicle: {width: " + "9" * 400 + "}}}", "a number that no float can hold"),
    ("parameters", "/**: {ros__parameters: {vehicle: {width: .nan}}}", "nan is out of range"),
    ("parameters", '/**: {ros__parameters: {vehicle: {"\\u202e": 1}}}', "vehicle.\\u202e: no such parameter"),
]
"""Target, text, and what the line has in it; None where the file is read."""


@pytest.mark.clause("SAF-3", "OSC-1")
@pytest.mark.parametrize(("target", "text", "said"), FOUND, ids=range(len(FOUND)))
def test_what_was_found_is_read_or_refused_in_one_line(
    target: str, text: str, said: str | None, tmp_path: Path
) -> None:
    file = tmp_path / f"found{TARGETS[target].suffix}"
    file.write_text(text, encoding="utf-8")
    trial = attempt(TARGETS[target].read, file, TARGETS[target].limit_s)
    assert trial.kind == ("read" if said is None else "refused"), trial
    assert said is None or said in trial.detail


@pytest.mark.parametrize("target", ["map", "xml", "tpcap", "commonroad", "mission", "parameters"])
@pytest.mark.medium
def test_the_files_that_mutants_are_made_of_are_read(target: str, tmp_path: Path) -> None:
    for seed in TARGETS[target].seeds():
        file = tmp_path / f"seed{TARGETS[target].suffix}"
        file.write_bytes(seed.content)
        assert attempt(TARGETS[target].read, file, TARGETS[target].limit_s).kind == "read"


@pytest.mark.clause("SAF-3")
def test_a_message_of_a_bag_that_is_none_of_its_type_is_refused_with_what_would_be_right(tmp_path: Path) -> None:
    cut = BagMessage("/tuling_fsm/state", "std_msgs/msg/String", b"string data", 0, b"\7\1\0\0\1")
    (tmp_path / "found.mcap").write_bytes(bag_file([cut]))
    trial = attempt(TARGETS["bag"].read, tmp_path / "found.mcap", 20.0)
    assert trial.kind == "refused", trial
    assert trial.detail.endswith("(expected a std_msgs/msg/String)")


def test_scenarios_of_the_package_are_read() -> None:
    assert attempt(TARGETS["dsl"].read, share_file("config", "scenarios", "roam.osc"), 10.0).kind == "read"
