"""The planner on the ego of a CARLA world, beside a running carla-ros-bridge in synchronous mode.

ros2 launch tuling_fsm carla.launch.py scenario:=roam.osc ego_type:=vehicle.tesla.model3
"""

from ament_index_python.packages import get_package_share_directory
from launch.actions import DeclareLaunchArgument, RegisterEventHandler, Shutdown
from launch.event_handlers import OnProcessExit
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from tuling_fsm.ros.launching import activate_when_configured, beside, configure, end_with, planner, text

CONFIG = f"{get_package_share_directory('tuling_fsm')}/config"
MODEL3 = f"{CONFIG}/carla_model3.yaml"
ARGUMENTS = (
    DeclareLaunchArgument("map_file", default_value="carla.xodr", description="where CARLA's map is saved"),
    DeclareLaunchArgument("role", default_value="ego_vehicle", description="role name of the ego"),
    DeclareLaunchArgument("ego_type", default_value="", description="blueprint of an ego to spawn"),
    DeclareLaunchArgument("scenario", default_value="", description="OpenSCENARIO 2 file"),
    DeclareLaunchArgument("seed", default_value="1", description="of everything random in the scenario"),
    DeclareLaunchArgument("mission_file", default_value="", description="mission (JSON) without a scenario"),
    DeclareLaunchArgument("vehicle_file", default_value=MODEL3, description="dimensions of the ego"),
    DeclareLaunchArgument("out", default_value="", description="folder for run.mcap, result.json, pictures.html"),
)


def generate_launch_description() -> LaunchDescription:
    """First the map is fetched; everything else goes on when it is there. The launch ends when the bridge does."""
    map_file = LaunchConfiguration("map_file")
    saver = beside("carla_map", [{"map_file": text(map_file)}], output="screen")
    server = beside("route_server", [{"map_file": text(map_file)}])
    node, bridge = _planner(), _bridge()

    def go_on(event: ProcessExited, _: LaunchContext) -> list[LaunchDescriptionEntity]:
        if event.returncode:
            return [Shutdown(reason="no map of CARLA")]
        return [server, bridge, configure(node)]

    fetched = RegisterEventHandler(OnProcessExit(target_action=saver, on_exit=go_on))
    steps = (activate_when_configured(node), fetched, end_with(bridge, "the run is over"))
    return LaunchDescription([*ARGUMENTS, *steps, node, saver])


def _planner() -> LifecycleNode:
    return planner(
        [
            f"{CONFIG}/planner.yaml",
            LaunchConfiguration("vehicle_file"),
            {
                "map_file": text(LaunchConfiguration("map_file")),
                "mission_file": text(LaunchConfiguration("mission_file")),
                "record": text(LaunchConfiguration("out")),
                "lock_step": True,
                "use_sim_time": True,
            },
        ]
    )


def _bridge() -> Node:
    return beside(
        "carla_bridge",
        [
            LaunchConfiguration("vehicle_file"),
            {
                "map_file": text(LaunchConfiguration("map_file")),
                "role": text(LaunchConfiguration("role")),
                "ego_type": text(LaunchConfiguration("ego_type")),
                "scenario": text(LaunchConfiguration("scenario")),
                "seed": ParameterValue(LaunchConfiguration("seed"), value_type=int),
                "out": text(LaunchConfiguration("out")),
            },
        ],
        output="screen",
    )
