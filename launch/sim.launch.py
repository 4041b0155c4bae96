"""Planner, simulator and route server in lock-step on one scenario.

ros2 launch tuling_fsm sim.launch.py map_file:=town.xodr scenario:=roam.osc out:=results
"""

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from tuling_fsm.ros.launching import activate_when_configured, beside, configure, end_with, planner, text

CONFIG = f"{get_package_share_directory('tuling_fsm')}/config"
ARGUMENTS = (
    DeclareLaunchArgument(
        "map_file", default_value=f"{CONFIG}/course/course.xodr", description="OpenDRIVE map (.xodr)"
    ),
    DeclareLaunchArgument("scenario", default_value=f"{CONFIG}/scenarios/demo.osc", description="OpenSCENARIO 2 file"),
    DeclareLaunchArgument(
        "params_file", default_value=f"{CONFIG}/planner.yaml", description="parameters of planner and car"
    ),
    DeclareLaunchArgument("seed", default_value="1", description="of everything random"),
    DeclareLaunchArgument("out", default_value="", description="folder for run.mcap, result.json, pictures.html"),
)


def generate_launch_description() -> LaunchDescription:
    """The three nodes; the launch ends when the simulator does."""
    map_file, out = LaunchConfiguration("map_file"), LaunchConfiguration("out")
    node = planner(
        [
            LaunchConfiguration("params_file"),
            {"map_file": text(map_file), "record": text(out), "lock_step": True, "use_sim_time": True},
        ]
    )
    sim = beside(
        "sim",
        [
            f"{CONFIG}/sim.yaml",
            LaunchConfiguration("params_file"),
            {
                "map_file": text(map_file),
                "scenario": text(LaunchConfiguration("scenario")),
                "seed": ParameterValue(LaunchConfiguration("seed"), value_type=int),
                "out": text(out),
            },
        ],
        output="screen",
    )
    server = beside("route_server", [{"map_file": text(map_file)}])
    steps = (activate_when_configured(node), end_with(sim, "the run is over"), configure(node))
    return LaunchDescription([*ARGUMENTS, node, server, sim, *steps])
