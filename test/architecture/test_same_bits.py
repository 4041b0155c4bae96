"""Nothing is computed by what differs between processors, versions of Python or of the C library (SIM-2)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tuling_fsm

ROOT = Path(tuling_fsm.__file__).parent
KERNELS = {"kernel", "inlined_kernel", "array_kernel"}
OF_THE_C_LIBRARY = {
    "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "dist", "erf", "erfc", "exp",
    "exp2", "expm1", "gamma", "hypot", "lgamma", "log", "log10", "log1p", "log2", "pow", "sin", "sinh", "tan", "tanh",
}  # fmt: skip
OF_NUMPY = OF_THE_C_LIBRARY | {
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "convolve", "corrcoef", "correlate",
    "cov", "dot", "einsum", "float_power", "inner", "linalg", "logaddexp", "matmul", "outer", "polyfit", "polynomial",
    "power", "sinc", "tensordot", "vdot",
}  # fmt: skip
"""Vector code that numpy chooses by the processor, and what goes through BLAS."""


def found(source: str) -> list[str]:
    """What of a file hangs on the machine, with its line."""
    tree = ast.parse(source)
    kernels = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and _is_kernel(node)]
    in_kernels = {id(node) for kernel in kernels for node in ast.walk(kernel)}
    return [f"{node.lineno}: {text}" for node in ast.walk(tree) for text in _faults(node, id(node) in in_kernels)]


def _is_kernel(function: ast.FunctionDef) -> bool:
    names = [node.func if isinstance(node, ast.Call) else node for node in function.decorator_list]
    return any(isinstance(name, ast.Name) and name.id in KERNELS for name in names)


def _faults(node: ast.AST, in_kernel: bool) -> Iterator[str]:
    match node:
        case ast.Attribute(ast.Name("math"), name) if name in OF_THE_C_LIBRARY:
            yield f"math.{name}"
        case ast.Attribute(ast.Name("np"), name) if name in OF_NUMPY:
            yield f"np.{name}"
        case ast.BinOp(_, ast.MatMult(), _):
            yield "@, which goes through BLAS"
        case ast.BinOp(left, ast.Pow(), right):
            whole = isinstance(right, ast.Constant) and isinstance(right.value, int)
            integers = whole and isinstance(left, ast.Constant) and isinstance(left.value, int)
            # Numba multiplies for a whole power; Python asks the C library.
            if not integers and not (in_kernel and whole):
                yield "**, which is pow of the C library"
        case ast.ImportFrom("math", names):
            yield from (f"math.{alias.name}" for alias in names if alias.name in OF_THE_C_LIBRARY)
        case ast.ImportFrom(str(module)) if module.startswith(("scipy.special", "scipy.linalg")):
            yield module
        case ast.Attribute(drawn, "normal" | "standard_normal" | "exponential" | "lognormal") if (
            "random" in ast.unparse(drawn)
        ):
            yield "a distribution by the C library's logarithm"


@pytest.mark.clause("SIM-2")
@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_file_computes_by_what_differs_between_machines(path: Path) -> None:
    assert found(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize(
    ("source", "faults"),
    [
        ("math.sin(x)", 1), ("math.sqrt(x)", 0), ("np.cos(x)", 1), ("np.sqrt(x)", 0), ("a @ b", 1), ("x**2", 1),
        ("2**63", 0), ("@kernel\ndef f(x):\n    return x**2", 0), ("@kernel\ndef f(x):\n    return x**0.5", 1),
        ("np.linalg.inv(m)", 1), ("from math import sin, sqrt", 1), ("from scipy.special import fresnel", 1),
        ("self._random.normal(0.0, 1.0)", 1), ("states.normal", 0),
    ],
)  # fmt: skip
def test_what_differs_is_seen(source: str, faults: int) -> None:
    assert len(found(source)) == faults
