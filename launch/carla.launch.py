"""The planner on the ego of a CARLA world, beside a running carla-ros-bridge in synchronous mode.

ros2 launch tuling_fsm carla.launch.py scenario:=roam.osc ego_type:=vehicle.tesla.model3
"""

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, EmitEvent, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.events import matches_action
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration, PathJoinSubstitution
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from lifecycle_msgs.msg import Transition

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity

SHARE = get_package_share_directory("tuling_fsm")
MODEL3 = f"{SHARE}/config/carla_model3.yaml"


def generate_launch_description() -> LaunchDescription:
    """First the map is fetched; everything else goes on when it is there. The launch ends when the bridge does."""
    map_file, out = LaunchConfiguration("map_file"), LaunchConfiguration("out")
    vehicle, role = LaunchConfiguration("vehicle_file"), LaunchConfiguration("role")
    saver = Node(
        package="tuling_fsm", executable="carla_map", name="carla_map", parameters=[{"map_file": map_file}],
        output="screen",
    )  # fmt: skip
    planner = LifecycleNode(
        package="tuling_fsm",
        executable="planner",
        name="planner",
        namespace="",
        parameters=[
            PathJoinSubstitution([SHARE, "config", "planner.yaml"]),
            vehicle,
            {
                "map_file": map_file,
                "mission_file": LaunchConfiguration("mission_file"),
                "record": out,
                "lock_step": True,
                "use_sim_time": True,
            },
        ],
        output="screen",
    )
    server = Node(
        package="tuling_fsm", executable="route_server", name="route_server", parameters=[{"map_file": map_file}]
    )
    bridge = Node(
        package="tuling_fsm",
        executable="carla_bridge",
        name="carla_bridge",
        parameters=[
            vehicle,
            {
                "map_file": map_file,
                "role": role,
                "ego_type": LaunchConfiguration("ego_type"),
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

    def go_on(event: ProcessExited, _: LaunchContext) -> list[LaunchDescriptionEntity]:
        if event.returncode:
            return [Shutdown(reason="no map of CARLA")]
        return [server, bridge, _change(planner, Transition.TRANSITION_CONFIGURE)]

    return LaunchDescription(
        [
            DeclareLaunchArgument("map_file", default_value="carla.xodr", description="where CARLA's map is saved"),
            DeclareLaunchArgument("role", default_value="ego_vehicle", description="role name of the ego"),
            DeclareLaunchArgument("ego_type", default_value="", description="blueprint of an ego to spawn"),
            DeclareLaunchArgument("scenario", default_value="", description="OpenSCENARIO 2 file"),
            DeclareLaunchArgument("seed", default_value="1", description="of everything random in the scenario"),
            DeclareLaunchArgument("mission_file", default_value="", description="mission (JSON) without a scenario"),
            DeclareLaunchArgument("vehicle_file", default_value=MODEL3, description="dimensions of the ego"),
            DeclareLaunchArgument("out", default_value="", description="folder for run.mcap, result.json, report.html"),
            RegisterEventHandler(activate),
            RegisterEventHandler(OnProcessExit(target_action=saver, on_exit=go_on)),
            RegisterEventHandler(OnProcessExit(target_action=bridge, on_exit=[Shutdown(reason="the run is over")])),
            planner,
            saver,
        ]
    )


def _change(node: LifecycleNode, transition: int) -> EmitEvent:
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))
