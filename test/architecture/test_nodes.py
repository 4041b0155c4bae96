"""Our nodes are rclpy's nodes and more: an attribute of ours never hides one of theirs, which makes them hang."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from rclpy.lifecycle import LifecycleNode
from rclpy.node import Node

import tuling_fsm

ROS = Path(tuling_fsm.__file__).parent / "ros"


def _attributes(kind: ast.AST) -> set[str]:
    """What a class assigns to itself, and its methods."""
    nodes = list(ast.walk(kind))
    assigned = {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store) and ast.unparse(node.value) == "self"
    }
    return assigned | {node.name for node in nodes if isinstance(node, ast.FunctionDef)}


def _nodes() -> Iterator[ast.ClassDef]:
    for file in sorted(ROS.rglob("*.py")):
        for kind in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(kind, ast.ClassDef) and any(ast.unparse(base).endswith("Node") for base in kind.bases):
                yield kind


@cache
def _theirs() -> set[str]:
    """The attributes of rclpy's nodes but for what it means to be taken over."""
    kinds = {each for kind in (Node, LifecycleNode) for each in kind.__mro__ if each.__module__.startswith("rclpy")}
    found = (_attributes(ast.parse(textwrap.dedent(inspect.getsource(kind)))) for kind in kinds)
    return set[str]().union(*found) - MEANT


CHANGES = ("configure", "activate", "deactivate", "cleanup", "shutdown", "error")
MEANT = {"__init__", "destroy_node", *(f"on_{change}" for change in CHANGES)}
"""What rclpy means to be taken over."""


def test_rclpy_keeps_its_state_where_it_is_looked_for() -> None:
    assert {"_parameters", "_clients", "_context", "_state_machine", "get_clock"} <= _theirs()


@pytest.mark.parametrize("node", list(_nodes()), ids=lambda node: node.name)
def test_no_node_hides_what_is_rclpys(node: ast.ClassDef) -> None:
    hidden = _attributes(node) & _theirs()
    assert not hidden
