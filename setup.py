"""ament_python package of tuling_fsm; `pip install .` gives the parts that need no ROS."""

from pathlib import Path
from xml.etree import ElementTree

from setuptools import find_packages, setup

NAME = "tuling_fsm"
SHARE = f"share/{NAME}"


def share_tree(*roots: str) -> list[tuple[str, list[str]]]:
    """Every file below the roots, keyed by its folder under the package's share directory."""
    folders: dict[str, list[str]] = {}
    for root in roots:
        for file in sorted(Path(root).rglob("*")):
            if file.is_file() and "__pycache__" not in file.parts:
                folders.setdefault(f"{SHARE}/{file.parent.as_posix()}", []).append(file.as_posix())
    return sorted(folders.items())


setup(
    name=NAME,
    version=ElementTree.parse("package.xml").findtext("version"),
    description="Hierarchical state-machine planner of a low-speed autonomous competition car",
    license="Apache-2.0",
    python_requires=">=3.10,<3.13",
    packages=find_packages(include=[NAME, f"{NAME}.*"]),
    package_data={
        NAME: [
            "py.typed",
            "fuzz/corpus/*",
            "sim/scenario/osc2.lark",
            "sim/scenario/scenario_runner.osc",
            "sim/scenario/standard.osc",
            "viewer/page/*",
            "viewer/page/machine/*",
            "viewer/page/vendor/*",
        ]
    },
    data_files=[
        ("share/ament_index/resource_index/packages", [f"resource/{NAME}"]),
        (SHARE, ["package.xml", "requirements.txt"]),
        *share_tree("config", "launch"),
    ],
    install_requires=[
        "backports.zstd>=1.0",
        "lark>=1.1",
        "lxml>=4.8",
        "matplotlib>=3.5",
        "mcap>=1.6",
        "numba>=0.60",
        "numpy>=1.26",
        "pyyaml>=5.4",
        "rich>=11.2",
        "rosbags>=0.11",
        "scipy>=1.11",
        "shapely>=2.0",
        "transitions==0.9.3",
    ],
    extras_require={
        "ros": [
            "ros-rclpy[fastrtps]==7.1.6",
            "ros-diagnostic-msgs==5.3.6",
            "ros-geometry-msgs==5.3.6",
            "ros-lifecycle-msgs==2.0.3",
            "ros-nav-msgs==5.3.6",
            "ros-rcl-interfaces==2.0.3",
            "ros-rosgraph-msgs==2.0.3",
            "ros-sensor-msgs==5.3.6",
            "ros-std-msgs==5.3.6",
            "ros-std-srvs==5.3.6",
            "ros-trajectory-msgs==5.3.6",
            "ros-visualization-msgs==5.3.6",
        ],
        "cluster": ["distributed>=2024.1"],
        "sumo": ["eclipse-sumo==1.28.0", "libsumo==1.28.0"],
        "commonroad": ["commonroad-sumo==2025.1.4", "eclipse-sumo==1.28.0", "libsumo==1.28.0"],
        "completion": ["shtab>=1.7"],
        "fuzz": ["atheris==3.0.0; platform_machine == 'x86_64' and python_version >= '3.11'"],
        "falsify": ["cmaes==0.13.1"],
        "test": [
            "build",
            "carla==0.9.16; platform_machine == 'x86_64'",
            "cmaes==0.13.1",
            "colcon-core",
            "colcon-package-information",
            "colcon-ros",
            "commonroad-sumo==2025.1.4; platform_machine == 'x86_64'",
            "distributed>=2024.1",
            "eclipse-sumo==1.28.0; platform_machine == 'x86_64'",
            "foxglove-sdk==0.30.3",
            "hypothesis",
            "import-linter",
            "libsumo==1.28.0; platform_machine == 'x86_64'",
            "lxml-stubs",
            "mkdocs-material>=9.5",
            "mkdocstrings[python]>=0.26",
            "mypy",
            "playwright==1.65.2",
            "pytest",
            "pytest-timeout",
            "pytest-xdist",
            "pyrvo==0.4.3; platform_machine == 'x86_64'",
            "ruff",
            "setuptools<80",
            "shtab>=1.7",
            "types-PyYAML",
        ],
    },
    entry_points={
        "console_scripts": [
            "tuling-fsm = tuling_fsm.cli:main",
            "planner = tuling_fsm.ros.executable:planner",
            "sim = tuling_fsm.ros.executable:sim",
            "route_server = tuling_fsm.ros.executable:route_server",
            "carla_bridge = tuling_fsm.ros.executable:carla_bridge",
            "carla_map = tuling_fsm.ros.executable:carla_map",
            "tracker = tuling_fsm.ros.executable:tracker",
            "view = tuling_fsm.ros.executable:view",
        ],
    },
    zip_safe=False,
)
