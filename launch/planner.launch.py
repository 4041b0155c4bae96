"""The planner on a vehicle: configured and activated as soon as it is up.

ros2 launch tuling_fsm planner.launch.py map_file:=/path/to/town.xodr odometry:=/localization/odometry

Every topic of the planner is an argument: what it is called on this vehicle.
"""

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration

from launch import LaunchDescription
from tuling_fsm.core.topics import INPUTS, OUTPUTS
from tuling_fsm.ros.launching import activate_when_configured, configure, planner, text, view

TOPICS = [topic for topic in (*INPUTS, *OUTPUTS) if not topic.name.startswith("/")]
DEFAULTS = f"{get_package_share_directory('tuling_fsm')}/config/planner.yaml"
ARGUMENTS = (
    DeclareLaunchArgument("map_file", description="OpenDRIVE map (.xodr)"),
    DeclareLaunchArgument("mission_file", default_value="", description="first mission (JSON)"),
    DeclareLaunchArgument("params_file", default_value=DEFAULTS, description="parameters of the planner"),
    DeclareLaunchArgument(
        "vehicle_file",
        default_value=LaunchConfiguration("params_file"),
        description="parameters of the vehicle, which override those of params_file",
    ),
    DeclareLaunchArgument("view", default_value="false", description="show the drive in a browser on this machine"),
    DeclareLaunchArgument("view_host", default_value="127.0.0.1", description="0.0.0.0 shows it to others too"),
    DeclareLaunchArgument("view_port", default_value="8765", description="of the page; 0 takes a free one"),
    DeclareLaunchArgument("namespace", default_value="", description="of the node and its topics"),
    *(DeclareLaunchArgument(each.name, default_value=each.name, description=each.doc) for each in TOPICS),
)


def generate_launch_description() -> LaunchDescription:
    """The node `planner` and what brings it to `active`."""
    node = planner(
        [
            LaunchConfiguration("params_file"),
            LaunchConfiguration("vehicle_file"),
            {
                "map_file": text(LaunchConfiguration("map_file")),
                "mission_file": text(LaunchConfiguration("mission_file")),
            },
        ],
        namespace=LaunchConfiguration("namespace"),
        remappings=[(topic.name, LaunchConfiguration(topic.name)) for topic in TOPICS],
    )
    page = view(
        {
            "map_file": text(LaunchConfiguration("map_file")),
            "host": text(LaunchConfiguration("view_host")),
            "port": LaunchConfiguration("view_port"),
        },
        LaunchConfiguration("namespace"),
        [(topic.name, LaunchConfiguration(topic.name)) for topic in TOPICS],
        LaunchConfiguration("view"),
    )
    return LaunchDescription([*ARGUMENTS, node, page, activate_when_configured(node), configure(node)])
