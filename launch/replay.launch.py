"""The planner on a bag that `ros2 bag play` plays: it hears the inputs, and answers them anew.

ros2 launch tuling_fsm replay.launch.py bag:=results map_file:=town.xodr

`tuling-fsm replay` does the same without ROS, faster, and compares; this one is for looking on in RViz or Foxglove.
"""

from pathlib import Path

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, EmitEvent, ExecuteProcess, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription
from tuling_fsm.wire.topics import INPUTS

DEFAULTS = Path(get_package_share_directory("tuling_fsm")) / "config" / "planner.yaml"


def generate_launch_description() -> LaunchDescription:
    """Planner and route server; the bag is played once the planner is active, and its end is that of the launch."""
    map_file = LaunchConfiguration("map_file")
    planner = LifecycleNode(
        package="tuling_fsm",
        executable="planner",
        name="planner",
        namespace="",
        parameters=[LaunchConfiguration("params_file"), {"map_file": map_file, "use_sim_time": True}],
        output="screen",
    )
    server = Node(
        package="tuling_fsm", executable="route_server", name="route_server", parameters=[{"map_file": map_file}]
    )
    play = ExecuteProcess(
        cmd=[
            *("ros2", "bag", "play", LaunchConfiguration("bag"), "--clock", "100"),
            *("--rate", LaunchConfiguration("rate"), "--topics", *(f"/{topic.name}" for topic in INPUTS)),
        ],
        output="screen",
    )
    steps = (
        ("configuring", "inactive", _change(planner, Transition.TRANSITION_ACTIVATE)),
        ("activating", "active", play),
    )
    return LaunchDescription(
        [
            DeclareLaunchArgument("bag", description="rosbag2: a folder or one file"),
            DeclareLaunchArgument("map_file", description="OpenDRIVE map (.xodr) that the bag was recorded on"),
            DeclareLaunchArgument("params_file", default_value=str(DEFAULTS), description="parameters of the planner"),
            DeclareLaunchArgument("rate", default_value="1.0", description="of playing"),
            planner,
            server,
            *(
                RegisterEventHandler(
                    OnStateTransition(
                        target_lifecycle_node=planner, start_state=start, goal_state=goal, entities=[then]
                    )
                )
                for start, goal, then in steps
            ),
            RegisterEventHandler(OnProcessExit(target_action=play, on_exit=[Shutdown(reason="the bag is over")])),
            _change(planner, Transition.TRANSITION_CONFIGURE),
        ]
    )


def _change(node: LifecycleNode, transition: int) -> EmitEvent:
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))
