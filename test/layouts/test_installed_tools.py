"""The layouts in PlotJuggler and RViz themselves, where these are installed: each opens its own, and says nothing
against it. What PlotJuggler cannot read it says in a window of its own, and RViz on its output; both go on.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from lxml import etree

from tuling_fsm.bag.writer import BagWriter
from tuling_fsm.core.geometry import Pose
from tuling_fsm.core.trajectory import Trajectory
from tuling_fsm.wire.cdr import nanoseconds
from tuling_fsm.wire.odometry import pack_odometry
from tuling_fsm.wire.text import pack_bool
from tuling_fsm.wire.trajectory import pack_trajectory
from tuling_fsm.world.inputs import Odometry

from .rviz_properties import read
from .test_topics import CONFIG

PATIENCE_S, STANDS_S = 120.0, 5.0
"""How long a program may take, and how long nothing changes on the display of one that is done, s."""
RVIZ, PLOTJUGGLER = (CONFIG / name for name in ("tuling.rviz", "plotjuggler.xml"))


class Seen(NamedTuple):
    """How a program stood when nothing changed any more."""

    windows: list[str]
    output: str
    ended: int | None


Show = Callable[..., Seen]


def program(name: str) -> str:
    """Where a tool is; a package of ROS need not put it on the path."""
    prefixes = filter(None, os.environ.get("AMENT_PREFIX_PATH", "").split(os.pathsep))
    places = [name, *(str(Path(prefix, "lib", name, name)) for prefix in prefixes)]
    return next(filter(None, map(shutil.which, places)), None) or pytest.skip(f"{name} is not installed")


@pytest.fixture
def display() -> Iterator[str]:
    """A display that nobody sees."""
    for tool, package in (("Xvfb", "xvfb"), ("xwininfo", "x11-utils")):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool}; the package {package} of the distribution brings one")
    number, there = os.pipe()
    command = ["Xvfb", "-displayfd", str(there), "-screen", "0", "1400x1000x24", "-nolisten", "tcp", "-noreset"]
    with subprocess.Popen(command, pass_fds=[there], stderr=subprocess.DEVNULL) as server:
        os.close(there)
        with os.fdopen(number) as line:
            yield f":{line.readline().strip()}"
        stop(server)


@pytest.fixture
def show(display: str, tmp_path: Path) -> Show:
    """Starts a program, in a home of its own, and waits until its windows stand."""

    def shown(*command: str, **environment: str) -> Seen:
        own = {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
        log = tmp_path / "output"
        with (
            log.open("wb") as output,
            subprocess.Popen(
                command, env={**os.environ, **own, **environment}, stdout=output, stderr=subprocess.STDOUT
            ) as process,
        ):
            try:
                windows = standing(process, display)
                ended = process.poll()
            finally:
                stop(process)
        return Seen(windows, log.read_text(encoding="utf-8", errors="replace"), ended)

    return shown


def standing(process: subprocess.Popen[bytes], display: str) -> list[str]:
    """The titles of the windows, once they have been the same for a while."""
    begin = since = time.monotonic()
    windows: list[str] = []
    while process.poll() is None and (now := time.monotonic()) < begin + PATIENCE_S:
        found = list(titles(display))
        if found != windows:
            windows, since = found, now
        elif windows and now > since + STANDS_S:
            break
        time.sleep(0.2)
    return windows


def titles(display: str) -> Iterator[str]:
    def told(*of: str) -> str:
        command = ["xwininfo", "-display", display, *of]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    for number, title in re.findall(r'^ +(0x[0-9a-f]+) "(.*)": \(', told("-root", "-children"), re.MULTILINE):
        if "IsViewable" in told("-id", number):
            yield title


def stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(20.0)
    except subprocess.TimeoutExpired:
        process.kill()


# PlotJuggler.


Open = Callable[[str], Seen]


@pytest.fixture(scope="module")
def bag(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A second with every series of the layout, as PlotJuggler leaves out curves that it has no data for."""
    folder, later = tmp_path_factory.mktemp("plotjuggler"), np.linspace(0.0, 4.0, 21)
    with BagWriter(folder) as bag:
        for t in np.linspace(0.0, 1.0, 21).tolist():
            ns, line = nanoseconds(t), 5.0 * (t + later)
            plan = Trajectory(t, later, line, 0 * line, 0 * line, 0 * line, 5.0 + 0 * line, 0 * line)
            bag.write(ns, "odometry", pack_odometry(ns, Odometry(t, Pose(5.0 * t, 0.0, 0.0), 5.0, 0.0)))
            bag.write(ns, "trajectory", pack_trajectory(ns, plan))
            for topic in ("emergency_stop", "rain_fog", "radar_health"):
                bag.write(ns, topic, pack_bool(t > 0.5))
    return folder / "run.mcap"


def with_bag(layout: str, bag: Path) -> str:
    """The layout as PlotJuggler saves it beside data: it opens these first, and asks nothing."""
    root = etree.fromstring(layout.encode())
    topics = {name.split("/")[1] for curve in root.iter("curve") for name in curve.attrib.values() if "/" in name}
    loaded = etree.SubElement(etree.SubElement(root, "previouslyLoaded_Datafiles"), "fileInfo")
    loaded.attrib.update({"filename": str(bag), "prefix": ""})
    etree.SubElement(
        etree.SubElement(loaded, "plugin", ID="DataLoad MCAP"),
        "parameters",
        use_timestamp="0",
        use_mcap_log_time="1",
        clamp_large_arrays="0",
        max_array_size="100",
        selected_topics=";".join(f"/{topic}" for topic in sorted(topics)),
    )
    return etree.tostring(root, encoding="unicode")


@pytest.fixture
def plotjuggler(show: Show, tmp_path: Path) -> Open:
    tool = program("plotjuggler")

    def opened(layout: str) -> Seen:
        file = tmp_path / "layout.xml"
        file.write_text(layout, encoding="utf-8")
        return show(tool, "--nosplash", "--layout", str(file))

    return opened


@pytest.mark.slow
def test_plotjuggler_opens_the_layout_and_finds_all_curves(plotjuggler: Open, bag: Path) -> None:
    seen = plotjuggler(with_bag(PLOTJUGGLER.read_text(encoding="utf-8"), bag))
    assert (seen.windows, seen.ended) == (["PlotJuggler"], None), seen.output
    assert "<root>" not in seen.output


@pytest.mark.slow
@pytest.mark.parametrize(
    ("there", "instead", "window"),
    [
        ("/odometry/twist/twist/linear/x", "/odometry/twist/linear/x", "Warning"),
        ("</root>", "</roots>", "XML Layout"),
        ('name="Main Window"', 'name="Window"', None),
    ],
)
def test_plotjuggler_says_what_it_cannot_read(
    there: str, instead: str, window: str | None, plotjuggler: Open, bag: Path
) -> None:
    layout = with_bag(PLOTJUGGLER.read_text(encoding="utf-8"), bag)
    assert there in layout
    seen = plotjuggler(layout.replace(there, instead, 1))
    assert seen.windows == ([] if window is None else [window])
    assert (seen.ended is None) is (window is not None)


# RViz.

ASKED = {"RCUTILS_CONSOLE_OUTPUT_FORMAT": "[{severity}] {message}", "RCUTILS_COLORIZED_OUTPUT": "0"}
MADE = "Attempting to create UNMANAGED instance for class {}."
"""What `pluginlib` logs for every class that RViz makes of a file: of a file that it cannot read it makes none, and has
no word for it.
"""
REFUSED = re.compile(r"^\[ERROR\] .*(?:failed to load|Could not load display config).*$", re.MULTILINE)


def unread(layout: str, output: str) -> list[str]:
    """What of a layout RViz did not make, by what it wrote; the panels are its own."""
    manager: dict[str, Any] = read(layout)["Visualization Manager"]
    parts = [*manager["Displays"], *manager["Tools"], manager["Views"]["Current"]]
    classes = sorted({part["Class"] for part in parts})
    return [*(name for name in classes if MADE.format(name) not in output), *REFUSED.findall(output)]


def test_what_rviz_writes_is_understood() -> None:
    layout = RVIZ.read_text(encoding="utf-8")
    names = set(re.findall(r"rviz_default_plugins/\w+", layout))
    made = "\n".join(f"[DEBUG] {MADE.format(name)}" for name in names)
    assert unread(layout, made) == []
    assert set(unread(layout, "[INFO] OpenGl version: 4.5 (GLSL 4.5)")) == names
    refusal = "[ERROR] PluginlibFactory: The plugin for class 'rviz_default_plugins/Paths' failed to load. Error: no"
    assert unread(layout, f"{made}\n{refusal}\n[INFO] on") == [refusal]


@pytest.mark.slow
@pytest.mark.ros
def test_rviz_makes_all_of_the_layout(show: Show, tmp_path: Path) -> None:
    layout, file = RVIZ.read_text(encoding="utf-8"), tmp_path / RVIZ.name
    file.write_text(layout, encoding="utf-8")
    seen = show(
        program("rviz2"), "-d", str(file), "--ros-args", "--log-level", "pluginlib.ClassLoader:=debug",
        **ASKED, ROS_LOG_DIR=str(tmp_path), ROS_LOCALHOST_ONLY="1", LIBGL_ALWAYS_SOFTWARE="1",
    )  # fmt: skip
    assert seen.ended is None, seen.output
    assert [title for title in seen.windows if RVIZ.name in title], seen.output
    assert unread(layout, seen.output) == []
