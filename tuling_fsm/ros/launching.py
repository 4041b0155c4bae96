"""What the launch files share: the planner, the way to `active`, and the route server beside it."""

from __future__ import annotations

from collections.abc import Sequence

from launch.actions import EmitEvent, RegisterEventHandler, Shutdown
from launch.conditions import IfCondition
from launch.event_handlers import OnProcessExit
from launch.events import matches_action
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import LifecycleNode, Node
from launch_ros.event_handlers import OnStateTransition
from launch_ros.events.lifecycle import ChangeState
from launch_ros.parameter_descriptions import ParameterValue
from lifecycle_msgs.msg import Transition

from launch import LaunchDescriptionEntity

PACKAGE = "tuling_fsm"


def planner(parameters: Sequence[object], namespace: object = "", remappings: Sequence[object] = ()) -> LifecycleNode:
    """The node `planner`; it is not configured by being started."""
    return LifecycleNode(
        package=PACKAGE,
        executable="planner",
        name="planner",
        namespace=namespace,
        parameters=list(parameters),
        remappings=list(remappings),
        output="screen",
    )


def beside(executable: str, parameters: Sequence[object], output: str = "log") -> Node:
    """Another executable of this package, under its own name."""
    return Node(package=PACKAGE, executable=executable, name=executable, parameters=list(parameters), output=output)


def view(parameters: object, namespace: object, remappings: Sequence[object], wanted: LaunchConfiguration) -> Node:
    """The node `view` beside a planner whose topics have other names, where it is wanted."""
    return Node(
        package=PACKAGE,
        executable="view",
        name="view",
        namespace=namespace,
        parameters=[parameters],
        remappings=list(remappings),
        output="screen",
        condition=IfCondition(wanted),
    )


def configure(node: LifecycleNode) -> EmitEvent:
    """The first step to `active`."""
    return _change(node, Transition.TRANSITION_CONFIGURE)


def activate_when_configured(node: LifecycleNode) -> RegisterEventHandler:
    """The second one."""
    return when(node, "configuring", "inactive", _change(node, Transition.TRANSITION_ACTIVATE))


def when(node: LifecycleNode, start: str, goal: str, then: LaunchDescriptionEntity) -> RegisterEventHandler:
    """Do something when a lifecycle node has come from one state to another."""
    return RegisterEventHandler(
        OnStateTransition(target_lifecycle_node=node, start_state=start, goal_state=goal, entities=[then])
    )


def end_with(action: LaunchDescriptionEntity, reason: str) -> RegisterEventHandler:
    """The launch ends when a process does."""
    return RegisterEventHandler(OnProcessExit(target_action=action, on_exit=[Shutdown(reason=reason)]))


def text(argument: LaunchConfiguration) -> ParameterValue:
    """A launch argument as a parameter of text: a folder named 2026 is no number."""
    return ParameterValue(argument, value_type=str)


def _change(node: LifecycleNode, transition: int) -> EmitEvent:
    return EmitEvent(event=ChangeState(lifecycle_node_matcher=matches_action(node), transition_id=transition))
