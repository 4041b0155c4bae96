"""CommonRoad scenarios as text: lanelets, road users, a planning problem."""

from __future__ import annotations

from pathlib import Path


def lanelet(number: int, x: float, y: float, more: str = "", length: float = 40.0) -> str:
    def bound(name: str, side: float) -> str:
        points = "".join(f"<point><x>{x + s}</x><y>{y + side}</y></point>" for s in (0.0, length))
        return f"<{name}>{points}</{name}>"

    return f'<lanelet id="{number}">{bound("leftBound", 1.75)}{bound("rightBound", -1.75)}{more}</lanelet>'


def state(tag: str, k: int, x: float, y: float, v: float) -> str:
    return (
        f"<{tag}><position><point><x>{x}</x><y>{y}</y></point></position>"
        f"<orientation><exact>0.0</exact></orientation><time><exact>{k}</exact></time>"
        f"<velocity><exact>{v}</exact></velocity></{tag}>"
    )


BOX = "<rectangle><length>4.5</length><width>1.8</width></rectangle>"


def car(number: int, x: float, y: float, v: float, ticks: int, shape: str = BOX, first: int = 1) -> str:
    states = "".join(state("state", k, x + 0.1 * k * v, y, v) for k in range(first, ticks))
    drive = f"<trajectory>{states}</trajectory>" if ticks > 1 else ""
    tag = "dynamicObstacle" if ticks > 1 else "staticObstacle"
    begin = state("initialState", 0, x, y, v)
    return f'<{tag} id="{number}"><type>car</type><shape>{shape}</shape>{begin}{drive}</{tag}>'


def with_sets(text: str, *sets: tuple[float, float, str]) -> str:
    """An obstacle without a drive, with sets of occupancy: first and last step, and their shapes."""
    ends = "<intervalStart>{}</intervalStart><intervalEnd>{}</intervalEnd>"
    occupancies = "".join(
        f"<occupancy><shape>{shape}</shape><time>{ends.format(low, high)}</time></occupancy>"
        for low, high, shape in sets
    )
    text = text.replace("staticObstacle", "dynamicObstacle")
    return text.replace("</dynamicObstacle>", f"<occupancySet>{occupancies}</occupancySet></dynamicObstacle>")


def rectangle(x: float, y: float, length: float, width: float, heading: float = 0.0) -> str:
    return (
        f"<rectangle><length>{length}</length><width>{width}</width><orientation>{heading}</orientation>"
        f"<center><x>{x}</x><y>{y}</y></center></rectangle>"
    )


def problem(x: float, y: float, v: float, goal: str, steps: tuple[int, int]) -> str:
    begin = state("initialState", 0, x, y, v)
    window = f"<time><intervalStart>{steps[0]}</intervalStart><intervalEnd>{steps[1]}</intervalEnd></time>"
    return f'<planningProblem id="5">{begin}<goalState>{goal}{window}</goalState></planningProblem>'


ROADS = (
    lanelet(1, 0.0, 1.75, '<successor ref="3"/><adjacentRight ref="2" drivingDir="same"/>')
    + lanelet(2, 0.0, -1.75, '<successor ref="4"/><adjacentLeft ref="1" drivingDir="same"/>')
    + lanelet(3, 40.0, 1.75, '<adjacentRight ref="4" drivingDir="same"/><speedLimit>12.5</speedLimit>')
    + lanelet(4, 40.0, -1.75, '<adjacentLeft ref="3" drivingDir="same"/>')
)


def scenario(folder: Path, content: str) -> Path:
    file = folder / "scenario.xml"
    file.write_text(f'<commonRoad benchmarkID="made" timeStepSize="0.1">{content}</commonRoad>')
    return file
