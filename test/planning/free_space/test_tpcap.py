from __future__ import annotations

import itertools
import json
import math
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shapely.geometry import Polygon

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.geometry import Pose
from tuling_fsm.planning.free_space.tpcap import CAR, read_case, solve_case

from .judge import Rows, cusps, first_touch, limit_problems, model_error

CASES = (1, 3, 5, 7, 9, 11, 13, 15, 17, 19)
SQUARE = ((8.0, -2.0), (10.0, -2.0), (10.0, 2.0), (8.0, 2.0))


def text_of(start: Pose, goal: Pose, polygons: tuple[tuple[tuple[float, float], ...], ...]) -> str:
    counts = [str(len(p)) for p in polygons]
    numbers = [repr(float(v)) for v in (*start, *goal)]
    vertices = [repr(float(v)) for p in polygons for xy in p for v in xy]
    return ",".join([*numbers, str(len(polygons)), *counts, *vertices])


def numbers_of(path: Path) -> tuple[Pose, Pose, tuple[tuple[tuple[float, float], ...], ...]]:
    row = [float(v) for v in path.read_text().replace("\n", ",").split(",") if v.strip()]
    m = int(row[6])
    counts, values, polygons = [int(n) for n in row[7 : 7 + m]], row[7 + m :], []
    for n in counts:
        polygons.append(tuple(zip(values[0 : 2 * n : 2], values[1 : 2 * n : 2], strict=True)))
        values = values[2 * n :]
    return Pose(*row[:3]), Pose(*row[3:6]), tuple(polygons)


def counting() -> Callable[[], float]:
    """A clock that goes on by 1 s whenever it is looked at."""
    return partial(next, itertools.count(1.0))


def solved(path: Path) -> tuple[dict[str, Any], Rows]:
    answer = solve_case(path, counting())
    assert answer["status"] == "ok", answer["reason"]
    return answer, np.array(answer["trajectory"])


def assert_valid(path: Path, rows: Rows, inward: float = 0.0) -> None:
    """`inward` (m) makes the polygons smaller, where the car may touch them."""
    start, goal, polygons = numbers_of(path)
    offset = np.floor(np.array(start[:2]))
    rows = rows - np.array((0.0, *offset, 0.0, 0.0, 0.0))
    shapes = [Polygon(np.array(p) - offset).buffer(-inward) for p in polygons]
    assert limit_problems(rows, CAR, 2.5) == []
    assert model_error(rows, CAR) < 0.01
    assert first_touch(rows, CAR, shapes) == -1
    for pose, row in ((start, rows[0]), (goal, rows[-1])):
        assert math.hypot(*(row[1:3] - np.array(pose[:2]) + offset)) < 0.01
        assert abs(math.remainder(row[3] - pose[2], 2.0 * math.pi)) < math.radians(1.0)


@pytest.mark.slow
@pytest.mark.parametrize("number", CASES)
def test_case_is_solved(number: int, shared_data: Path) -> None:
    path = shared_data / "tpcap" / f"Case{number}.csv"
    answer, rows = solved(path)
    assert_valid(path, rows)
    assert cusps(rows) == answer["cusps"]
    assert answer["length_m"] == pytest.approx(np.hypot(*np.diff(rows[:, 1:3], axis=0).T).sum(), rel=0.01)
    assert 0.0 < answer["first_path_ms"] < answer["elapsed_ms"]


@pytest.mark.parametrize("number", (5, 17))
def test_polygons_run_either_way(number: int, shared_data: Path, tmp_path: Path) -> None:
    start, goal, polygons = numbers_of(shared_data / "tpcap" / f"Case{number}.csv")
    other = tmp_path / "other.csv"
    other.write_text(text_of(start, goal, tuple(p[::-1] for p in polygons[::-1])))
    assert_valid(other, solved(other)[1])
    same = solved(shared_data / "tpcap" / f"Case{number}.csv")[1]
    assert np.array_equal(solved(other)[1], same)


@pytest.mark.parametrize("number", (1, 3, 9, 11))
@pytest.mark.medium
def test_a_mirrored_case_has_the_mirrored_solution(number: int, shared_data: Path, tmp_path: Path) -> None:
    path = shared_data / "tpcap" / f"Case{number}.csv"
    start, goal, polygons = numbers_of(path)
    mirror = tmp_path / "mirror.csv"
    flat = tuple(tuple((x, -y) for x, y in p[::-1]) for p in polygons)
    mirror.write_text(text_of(Pose(start.x, -start.y, -start.heading), Pose(goal.x, -goal.y, -goal.heading), flat))
    one, other = solved(path)[1], solved(mirror)[1]
    assert_valid(mirror, other)
    assert len(one) == len(other)
    assert np.allclose(one * np.array((1.0, 1.0, -1.0, -1.0, 1.0, -1.0)), other, atol=1e-6)


def test_a_slot_of_case_7_takes_fewer_than_15_gear_changes(shared_data: Path) -> None:
    assert solved(shared_data / "tpcap" / "Case7.csv")[0]["cusps"] < 15


def test_far_coordinates_keep_their_digits(tmp_path: Path) -> None:
    near, far = tmp_path / "near.csv", tmp_path / "far.csv"
    shift = 1_048_576_000.0
    near.write_text(text_of(Pose(0.0, 0.0, 0.0), Pose(16.0, 0.5, 0.0), (SQUARE,)))
    moved = tuple((x + shift, y - shift) for x, y in SQUARE)
    far.write_text(text_of(Pose(shift, -shift, 0.0), Pose(16.0 + shift, 0.5 - shift, 0.0), (moved,)))
    assert read_case(far).offset == (shift, -shift)
    assert np.array_equal(read_case(far).edges, read_case(near).edges)
    assert_valid(far, solved(far)[1])


@pytest.mark.clause("USE-7")
def test_reasons(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    concave = ((-6.0, -6.0), (6.0, -6.0), (6.0, 6.0), (-6.0, 6.0), (-6.0, 5.5), (5.5, 5.5), (5.5, -5.5), (-6.0, -5.5))
    cage = ((-6.0, 5.0), (-6.0, -5.0), (-5.8, -5.0), (-5.8, 5.0))
    big = ((-9.0, -9.0), (9.0, -9.0), (9.0, 9.0), (-9.0, 9.0))
    here, there = Pose(0.0, 0.0, 0.0), Pose(20.0, 0.0, 0.0)
    for start, goal, polygons, reason in (
        (here, there, (big,), "START_OCCUPIED"),
        (there, here, (big,), "GOAL_OCCUPIED"),
        (Pose(8.5, 0.0, 0.0), there, (SQUARE,), "START_OCCUPIED"),
        (here, there, (concave, cage), "NO_PATH"),
    ):
        path.write_text(text_of(start, goal, polygons))
        answer = solve_case(path, lambda: 0.0)
        assert (answer["status"], answer["reason"]) == ("failed", reason)
        assert answer["trajectory"] == []


@pytest.mark.parametrize(
    ("start", "goal", "polygons"),
    [
        pytest.param(
            Pose(17.0, -1.64, math.pi), Pose(5.0, -13.64, 0.5 * math.pi),
            (((0.0, 0.0), (30.0, 0.0), (30.0, 0.2), (0.0, 0.2)),
             ((6.64, -13.28), (26.64, -13.28), (26.64, -3.28), (6.64, -3.28)),
             ((3.16, -21.92), (3.36, -21.92), (3.36, 8.64), (3.16, 8.64))),
            marks=pytest.mark.medium, id="a corner",
        ),
        pytest.param(
            Pose(12.87, 2.46, math.pi), Pose(12.77, 2.39, 0.0),
            (((0.0, 0.0), (23.87, 0.0), (23.87, 0.2), (0.0, 0.2)),
             ((0.0, 4.72), (23.87, 4.72), (23.87, 4.92), (0.0, 4.92)),
             ((-5.1, 0.2), (-4.9, 0.2), (-4.9, 4.72), (-5.1, 4.72))),
            marks=pytest.mark.slow, id="an alley to be left for turning round",
        ),
    ],
)  # fmt: skip
def test_a_case_that_takes_more_expansions_is_solved(
    start: Pose, goal: Pose, polygons: tuple[tuple[tuple[float, float], ...], ...], tmp_path: Path
) -> None:
    path = tmp_path / "case.csv"
    path.write_text(text_of(start, goal, polygons))
    answer, rows = solved(path)
    assert_valid(path, rows)
    assert 0.0 < answer["first_path_ms"] < answer["elapsed_ms"]


@pytest.mark.clause("USE-7")
@pytest.mark.parametrize("gap", [0.0, 0.0005])
@pytest.mark.parametrize("sides", ["left", "front", "left, right and rear"])
@pytest.mark.parametrize("touched", ["start", "goal"])
def test_what_touches_is_no_overlap(touched: str, sides: str, gap: float, tmp_path: Path) -> None:
    half = 0.5 * CAR.width
    ends = {
        "left": (-2.0, half + gap, 4.4, 3.0),
        "right": (-2.0, -3.0, 4.4, -half - gap),
        "front": (CAR.front + gap, -2.0, 5.0, 2.0),
        "rear": (-3.0, -half, -CAR.rear_overhang - gap, half),
    }
    boxes = tuple(((a, b), (c, b), (c, d), (a, d)) for side, (a, b, c, d) in ends.items() if side in sides)
    here, there = Pose(0.0, 0.0, 0.0), Pose(12.0, 3.0, 0.3)
    path = tmp_path / "case.csv"
    path.write_text(text_of(*((here, there) if touched == "start" else (there, here)), boxes))
    assert_valid(path, solved(path)[1], inward=1e-6)


@pytest.mark.clause("USE-7")
def test_an_overlap_of_a_millimetre_is_one(tmp_path: Path) -> None:
    edge = 0.5 * CAR.width - 0.001
    path = tmp_path / "case.csv"
    box = ((-2.0, edge), (4.4, edge), (4.4, 3.0), (-2.0, 3.0))
    path.write_text(text_of(Pose(0.0, 0.0, 0.0), Pose(12.0, 3.0, 0.3), (box,)))
    assert solve_case(path, lambda: 0.0)["reason"] == "START_OCCUPIED"


def test_a_car_at_its_goal_stands(tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    path.write_text(text_of(Pose(1.0, 2.0, 0.3), Pose(1.0, 2.0, 0.3 + 2.0 * math.pi), ()))
    answer, rows = solved(path)
    assert answer["length_m"] == pytest.approx(0.0, abs=1e-6)
    assert np.all(rows[:, 4] == 0.0)
    assert rows[0, 1:4] == pytest.approx((1.0, 2.0, 0.3))


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("1,2,0,5,6,x,0", "value 6", "'x' is no number"),
        ("1,2,0,5,6,nan,0", "value 6", "no number"),
        ("1,2,0,5", "case.csv", "4 values"),
        ("1,2,0,5,6,0,1.5,4", "value 7", "polygons"),
        ("1,2,0,5,6,0,-1", "value 7", "polygons"),
        ("1,2,0,5,6,0,1,2,0,0,1,1", "value 8", "vertices"),
        ("1,2,0,5,6,0,2,3", "case.csv", "vertex counts"),
        ("1,2,0,5,6,0,1,3,0,0,1,0,1", "case.csv", "13 values"),
        ("1,2,0,5,6,0,1,3,0,0,1,0,1,1,9", "case.csv", "15 values"),
        ("", "case.csv", "0 values"),
        ("1e300,2,0,5,6,0,0", "value 1", "beyond all bounds"),
        ("1,2,0,5,1100,0,0", "value 5", "beyond all bounds"),
        ("1,2,0,5,6,0,1,99999999999999999999", "value 8", "vertices"),
        ("1,2,0,5,6,0,99999999999999999999,3", "value 7", "polygons"),
        ("1,2,0,5,6,0,1,3,0,0,1,1e300,2,2", "value 12", "beyond all bounds"),
    ],
)
def test_malformed_cases_are_named(text: str, where: str, what: str, tmp_path: Path) -> None:
    path = tmp_path / "case.csv"
    path.write_text(text)
    with pytest.raises(InputError) as error:
        read_case(path)
    assert where in error.value.where
    assert what in error.value.what
    assert error.value.expected
    assert "\n" not in str(error.value)


def test_a_case_saved_by_a_spreadsheet_is_the_same_case(tmp_path: Path) -> None:
    plain, marked = tmp_path / "plain.csv", tmp_path / "marked.csv"
    text = text_of(Pose(0.0, 0.0, 0.0), Pose(16.0, 0.5, 0.0), (SQUARE,))
    plain.write_text(text)
    marked.write_bytes(text.replace(",", ",\r\n").encode("utf-8-sig"))
    assert np.array_equal(read_case(marked).edges, read_case(plain).edges)
    assert read_case(marked).start == read_case(plain).start


def test_a_missing_or_binary_file_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        read_case(tmp_path / "none.csv")
    (tmp_path / "binary.csv").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(InputError, match="cannot be read"):
        read_case(tmp_path / "binary.csv")


@pytest.mark.slow
def test_another_process_finds_the_same(shared_data: Path) -> None:
    path = shared_data / "tpcap" / "Case13.csv"
    code = (
        "import json, sys; from tuling_fsm.planning.free_space.tpcap import solve_case; "
        "print(json.dumps(solve_case(sys.argv[1], lambda: 0.0)['trajectory']))"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert json.loads(run.stdout) == solve_case(path, lambda: 0.0)["trajectory"]
