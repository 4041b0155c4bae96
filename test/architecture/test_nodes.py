"""Our nodes are rclpy's nodes and more: an attribute of ours never hides one of theirs, which makes them hang."""

import ast
import importlib
import inspect
import pkgutil

import pytest
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node

import tuling_fsm.ros


def _assigned(kind: type) -> set[str]:
    """The attributes that the source of a class assigns."""
    tree = ast.parse(inspect.cleandoc(inspect.getsource(kind)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
    }


def _nodes() -> list[type]:
    names = [each.name for each in pkgutil.walk_packages(tuling_fsm.ros.__path__, "tuling_fsm.ros.")]
    modules = [importlib.import_module(name) for name in names]
    return [
        kind
        for module in modules
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, Node) and kind.__module__ == module.__name__
    ]


THEIRS = set().union(*(_assigned(each) for kind in (Node, LifecycleNode) for each in kind.__mro__[:-1]))


def test_rclpy_keeps_its_state_where_it_is_looked_for() -> None:
    assert {"_parameters", "_clients", "_context", "_state_machine"} <= THEIRS


@pytest.mark.parametrize("node", _nodes(), ids=lambda node: node.__name__)
def test_no_node_hides_an_attribute_of_rclpy(node: type) -> None:
    assert not _assigned(node) & THEIRS
    assert not vars(node).keys() & THEIRS
