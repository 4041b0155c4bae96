"""What RViz 14.3 (`ros2/rviz`, branch rolling of October 2024) reads of a display configuration, property by property.

RViz has no schema: a display, tool or view is a tree of properties that its constructor makes, and `Property::load`
looks each of them up by its name in the map of the file. What has no property of its name is passed over without a
word. The tables below were written by reading those constructors: `plugins_description.xml` and the displays `grid`,
`map`, `path`, `marker_array`, `odometry`, the view controller `ortho` and the tools of rviz_default_plugins;
`visualization_frame`, `visualization_manager`, `display`, `view_controller`, `panel_factory`, `qos_profile_property`,
`covariance_property`, `parse_color` and `message_filter_display` of rviz_common. There is a table for every class that
a layout of this package shows, and for no other. They were then held against that code, compiled: its own reader and
properties, with the trees that those constructors make, have the same names, bounds and options, and find the same
faults.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import yaml


class Property(NamedTuple):
    """A property: what the text of its value has to be, if it has one, and the properties below it."""

    fits: Callable[[str], bool] | None
    children: Mapping[str, Property] = {}


def read(text: str) -> Any:
    """A display configuration as RViz has it: a value stays the text that it is in the file, and a property makes of
    it what Qt does. `no` is no truth value of Qt's, and would count as true.
    """
    return yaml.load(text, yaml.BaseLoader)


def whole(least: int = -(2**31), most: int = 2**31 - 1) -> Property:
    """An `IntProperty`: what is no whole number counts as 0, and what is out of its bounds as the nearer one."""
    return Property(lambda text: bool(re.fullmatch(r"[-+]?\d+", text)) and least <= int(text) <= most)


def number(least: float = -math.inf, most: float = math.inf) -> Property:
    """A `FloatProperty`; as `whole`."""
    form = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
    return Property(lambda text: bool(form.fullmatch(text)) and least <= float(text) <= most)


def one_of(*options: str) -> Property:
    """An `EnumProperty`: a value that is none of its options counts as the one of number 0, silently."""
    return Property(lambda text: text in options)


def _is_color(text: str) -> bool:
    """As `parseColor` takes it, without the names of colours."""
    parts = re.fullmatch(r"(\d+); (\d+); (\d+)", text)
    return all(int(part) <= 255 for part in parts.groups()) if parts else bool(re.fullmatch("#[0-9a-fA-F]{6}", text))


TRUTH = one_of("true", "false")
COLOR = Property(_is_color)
TEXT = Property(lambda text: True)
ALPHA = number(0.0, 1.0)
VECTOR = Property(None, {"X": number(), "Y": number(), "Z": number()})

QOS = {
    "Depth": whole(1),
    "History Policy": one_of("System Default", "Keep Last", "Keep All"),
    "Reliability Policy": one_of("System Default", "Reliable", "Best Effort"),
    "Durability Policy": one_of("System Default", "Transient Local", "Volatile"),
}
TOPIC = Property(TEXT.fits, QOS)
FILTERED_TOPIC = Property(TEXT.fits, {**QOS, "Filter size": whole(1)})
"""Of a `MessageFilterDisplay`, which waits for transforms."""
COVARIANCE = Property(
    TRUTH.fits,
    {
        "Position": Property(TRUTH.fits, {"Color": COLOR, "Alpha": ALPHA, "Scale": number(0.0)}),
        "Orientation": Property(
            TRUTH.fits,
            {
                "Frame": one_of("Local", "Fixed"),
                "Color Style": one_of("Unique", "RGB"),
                "Color": COLOR,
                "Alpha": ALPHA,
                "Offset": number(0.0),
                "Scale": number(0.0),
            },
        ),
    },
)
ARROW_OR_AXES = Property(
    one_of("Arrow", "Axes").fits,
    {
        "Color": COLOR,
        "Alpha": ALPHA,
        "Shaft Length": number(),
        "Shaft Radius": number(),
        "Head Length": number(),
        "Head Radius": number(),
        "Axes Length": number(),
        "Axes Radius": number(),
    },
)

_ANY_DISPLAY = {"Class": TEXT, "Name": TEXT, "Enabled": TRUTH, "Value": TRUTH}
DISPLAYS: dict[str, dict[str, Property]] = {
    "rviz_default_plugins/Grid": {
        "Reference Frame": TEXT,
        "Plane Cell Count": whole(1),
        "Normal Cell Count": whole(0),
        "Cell Size": number(0.0001),
        "Line Style": Property(one_of("Lines", "Billboards").fits, {"Line Width": number(0.001)}),
        "Color": COLOR,
        "Alpha": ALPHA,
        "Plane": one_of("XY", "XZ", "YZ"),
        "Offset": VECTOR,
    },
    "rviz_default_plugins/Map": {
        "Topic": FILTERED_TOPIC,
        "Update Topic": TOPIC,
        "Alpha": ALPHA,
        "Color Scheme": one_of("map", "costmap", "raw"),
        "Draw Behind": TRUTH,
        "Use Timestamp": TRUTH,
        "Binary representation": TRUTH,
        "Binary threshold": whole(0, 100),
    },
    "rviz_default_plugins/MarkerArray": {"Topic": TOPIC, "Namespaces": Property(None)},
    "rviz_default_plugins/Odometry": {
        "Topic": FILTERED_TOPIC,
        "Position Tolerance": number(0.0),
        "Angle Tolerance": number(0.0),
        "Keep": whole(0),
        "Shape": ARROW_OR_AXES,
        "Covariance": COVARIANCE,
    },
    "rviz_default_plugins/Path": {
        "Topic": FILTERED_TOPIC,
        "Line Style": one_of("Lines", "Billboards"),
        "Line Width": number(0.001),
        "Color": COLOR,
        "Alpha": number(),
        "Buffer Length": whole(1),
        "Offset": VECTOR,
        "Pose Style": one_of("None", "Axes", "Arrows"),
        "Length": number(),
        "Radius": number(),
        "Pose Color": COLOR,
        "Shaft Length": number(),
        "Head Length": number(),
        "Shaft Diameter": number(),
        "Head Diameter": number(),
    },
}
TOOLS: dict[str, dict[str, Property]] = {
    "rviz_default_plugins/MoveCamera": {},
    "rviz_default_plugins/Measure": {"Line color": COLOR},
}
VIEWS: dict[str, dict[str, Property]] = {
    "rviz_default_plugins/TopDownOrtho": {
        "Name": TEXT,
        "Near Clip Distance": number(0.001, 10000.0),
        "Enable Stereo Rendering": Property(
            TRUTH.fits,
            {"Swap Stereo Eyes": TRUTH, "Stereo Eye Separation": number(), "Stereo Focal Distance": number()},
        ),
        "Invert Z Axis": TRUTH,
        "Target Frame": TEXT,
        "Scale": number(),
        "Angle": number(),
        "X": number(),
        "Y": number(),
    },
}
PANELS: dict[str, dict[str, Property]] = {
    "rviz_common/Displays": {},
    "rviz_common/Views": {},
    "rviz_common/Time": {"SyncMode": whole(), "SyncSource": TEXT, "Experimental": TRUTH},
}
MANAGER = {
    "Class": TEXT,
    "Enabled": TRUTH,
    "Name": TEXT,
    "Value": TRUTH,
    "Global Options": Property(None, {"Fixed Frame": TEXT, "Background Color": COLOR, "Frame Rate": whole()}),
    "Transformation": Property(None, {"Current": Property(None, {"Class": TEXT})}),
}
GEOMETRY = {
    "X": whole(),
    "Y": whole(),
    "Width": whole(),
    "Height": whole(),
    "Hide Left Dock": TRUTH,
    "Hide Right Dock": TRUTH,
}


def faults(layout: Mapping[str, Any]) -> Iterator[str]:
    """What of a display configuration RViz would pass over, or take for something else.

    Args:
        layout: The file, as `read` gives it.

    Yields:
        A line for each unknown class, name and value, with its place.
    """
    sections = {"Panels": list, "Visualization Manager": dict, "Window Geometry": dict}
    for name, part in layout.items():
        if not isinstance(part, sections.get(name, ())):
            yield f"{name}: no section of a layout"
    manager = dict(layout["Visualization Manager"])
    views = manager.pop("Views", {})
    for k, panel in enumerate(layout.get("Panels", ())):
        # A panel that has no name is not made.
        yield from () if "Name" in panel else (f"Panels[{k}]: no Name",)
        yield from _faults_of_class(panel, PANELS, {"Class": TEXT, "Name": TEXT}, f"Panels[{k}]")
    for k, display in enumerate(manager.pop("Displays", ())):
        yield from _faults_of_class(display, DISPLAYS, _ANY_DISPLAY, f"Displays[{k}]")
    for k, tool in enumerate(manager.pop("Tools", ())):
        yield from _faults_of_class(tool, TOOLS, {"Class": TEXT}, f"Tools[{k}]")
    for name, view in views.items():
        # There may be saved views beside it; here are none.
        if name == "Current":
            yield from _faults_of_class(view, VIEWS, {"Class": TEXT}, "Views.Current")
        else:
            yield f"Views.{name}: no view"
    yield from _faults_of_map(manager, MANAGER, "Visualization Manager")
    geometry = layout.get("Window Geometry", {})
    yield from _faults_of_map(geometry, GEOMETRY, "Window Geometry")
    # Without these its reader hides a dock or not by a variable that nothing has set.
    yield from (f"Window Geometry: no {name}" for name in ("Hide Left Dock", "Hide Right Dock") if name not in geometry)


def _faults_of_class(
    given: Any, classes: Mapping[str, Mapping[str, Property]], always: Mapping[str, Property], at: str
) -> Iterator[str]:
    name = given.get("Class")
    if name in classes:
        yield from _faults_of_map(given, {**always, **classes[name]}, at)
    else:
        yield f"{at}: no class {name}"


def _faults_of_map(given: Any, known: Mapping[str, Property], at: str) -> Iterator[str]:
    for name, value in given.items():
        if name in known:
            yield from _faults_of_property(value, known[name], f"{at}.{name}")
        else:
            yield f"{at}: no property {name}"


def _faults_of_property(given: Any, of: Property, at: str) -> Iterator[str]:
    """A map says the properties below, and the value itself as `Value`; anything else is the value."""
    below = dict(given) if isinstance(given, dict) else {"Value": given}
    if "Value" in below:
        value = below.pop("Value")
        if of.fits is None or not of.fits(value):
            yield f"{at}: {value!r}"
    yield from _faults_of_map(below, of.children, at)
