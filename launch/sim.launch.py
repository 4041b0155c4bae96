"""Planner, simulator and route server in lock-step on one scenario.

ros2 launch tuling_fsm sim.launch.py map_file:=town.xodr scenario:=roam.osc out:=results
"""

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from lifecycle_msgs.msg import Transition

from launch import LaunchDescription

SHARE = get_package_share_directory("tuling_fsm")
COURSE, DEMO = f"{SHARE}/config/course/course.xodr", f"{SHARE}/config/scenarios/demo.osc"


def generate_launch_description() -> LaunchDescription:
    """The three nodes; the launch ends when the simulator does."""
    map_file, out = LaunchConfiguration("map_file"), LaunchConfiguration("out")
    planner = LifecycleNode(
        package="tuling_fsm",
        executable="planner",
        name="planner",
        namespace="",
        parameters=[
            PathJoinSubstitution([SHARE, "config", "planner.yaml"]),
            {"map_file": map_file, "record": out, "lock_step": True, "use_sim_time": True},
        ],
        output="screen",
    )
    server = Node(
        package="tuling_fsm", executable="route_server", name="route_server", parameters=[{"map_file": map_file}]
    )
    sim = Node(
        package="tuling_fsm",
        executable="sim",
        name="sim",
        parameters=[
            PathJoinSubstitution([SHARE, "config", "sim.yaml"]),
            {
                "map_file": map_file,
                "scenario": LaunchConfiguration("scenario"),
                "seed": ParameterValue(LaunchConfiguration("seed"), value_type=int),
                "out": out,
            },
        ],
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
            DeclareLaunchArgument("map_file", default_value=COURSE, description="OpenDRIVE map (.xodr)"),
            DeclareLaunchArgument("scenario", default_value=DEMO, description="OpenSCENARIO 2 file"),
            DeclareLaunchArgument("seed", default_value="1", description="of everything random"),
            DeclareLaunchArgument("out", default_value="", description="folder for run.mcap, result.json, report.html"),
            planner,
            server,
            sim,
            RegisterEventHandler(activate),
            RegisterEventHandler(OnProcessExit(target_action=sim, on_exit=[Shutdown(reason="the run is over")])),
            _change(planner, Transition.TRANSITION_CONFIGURE),
        ]
    )


def _change(node: LifecycleNode, transition: int) -> EmitEvent:
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))
