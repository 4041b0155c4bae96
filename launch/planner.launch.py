"""The planner on a vehicle: configured and activated as soon as it is up.

ros2 launch tuling_fsm planner.launch.py map_file:=/path/to/town.xodr odometry:=/localization/odometry

Every topic of the planner is an argument: what it is called on this vehicle.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription
from tuling_fsm.wire.topics import INPUTS, OUTPUTS

TOPICS = [topic for topic in (*INPUTS, *OUTPUTS) if not topic.name.startswith("/")]
DEFAULTS = Path(get_package_share_directory("tuling_fsm")) / "config" / "planner.yaml"


def generate_launch_description() -> LaunchDescription:
    """The node `planner` and what brings it to `active`."""
    planner = LifecycleNode(
        package="tuling_fsm",
        executable="planner",
        name="planner",
        namespace=LaunchConfiguration("namespace"),
        parameters=[
            LaunchConfiguration("params_file"),
            LaunchConfiguration("vehicle_file"),
            {"map_file": LaunchConfiguration("map_file"), "mission_file": LaunchConfiguration("mission_file")},
        ],
        remappings=[(topic.name, LaunchConfiguration(topic.name)) for topic in TOPICS],
        output="screen",
    )
    activate = OnStateTransition(
        target_lifecycle_node=planner,
        start_state="configuring",
        goal_state="inactive",
        entities=[_change(planner, Transition.TRANSITION_ACTIVATE)],
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument("map_file", description="OpenDRIVE map (.xodr)"),
            DeclareLaunchArgument("mission_file", default_value="", description="first mission (JSON)"),
            DeclareLaunchArgument("params_file", default_value=str(DEFAULTS), description="parameters of the planner"),
            DeclareLaunchArgument(
                "vehicle_file",
                default_value=LaunchConfiguration("params_file"),
                description="parameters of the vehicle, which override those of params_file",
            ),
            DeclareLaunchArgument("namespace", default_value="", description="of the node and its topics"),
            *(DeclareLaunchArgument(each.name, default_value=each.name, description=each.doc) for each in TOPICS),
            planner,
            RegisterEventHandler(activate),
            _change(planner, Transition.TRANSITION_CONFIGURE),
        ]
    )


def _change(node: LifecycleNode, transition: int) -> EmitEvent:
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))
