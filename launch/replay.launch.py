"""The planner on a bag that `ros2 bag play` plays: it hears the inputs, and answers them anew.

ros2 launch tuling_fsm replay.launch.py bag:=results map_file:=town.xodr

`tuling-fsm replay` does the same without ROS, faster, and compares; this one is for looking on in RViz or Foxglove.
"""

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, ExecuteProcess
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from tuling_fsm.core.topics import INPUTS
from tuling_fsm.ros.launching import activate_when_configured, beside, configure, end_with, planner, text, when

DEFAULTS = f"{get_package_share_directory('tuling_fsm')}/config/planner.yaml"
ARGUMENTS = (
    DeclareLaunchArgument("bag", description="rosbag2: a folder or one file"),
    DeclareLaunchArgument("map_file", description="OpenDRIVE map (.xodr) that the bag was recorded on"),
    DeclareLaunchArgument("params_file", default_value=DEFAULTS, description="parameters of the planner"),
    DeclareLaunchArgument("rate", default_value="1.0", description="of playing"),
)


def generate_launch_description() -> LaunchDescription:
    """Planner and route server; the bag is played once the planner is active, and its end is that of the launch."""
    map_file = LaunchConfiguration("map_file")
    node = planner([LaunchConfiguration("params_file"), {"map_file": text(map_file), "use_sim_time": True}])
    server = beside("route_server", [{"map_file": text(map_file)}])
    play = ExecuteProcess(
        cmd=[
            *("ros2", "bag", "play", LaunchConfiguration("bag"), "--clock", "100"),
            *("--rate", LaunchConfiguration("rate"), "--topics", *(f"/{topic.name}" for topic in INPUTS)),
        ],
        output="screen",
    )
    steps = (
        activate_when_configured(node),
        when(node, "activating", "active", play),
        end_with(play, "the bag is over"),
        configure(node),
    )
    return LaunchDescription([*ARGUMENTS, node, server, *steps])
