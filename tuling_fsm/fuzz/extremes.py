"""What a file should not hold, and what it may hold at the very edge: the values that a mutation puts in."""

from __future__ import annotations

NUMBERS = (
    "0", "-0.0", "1", "-1", "2", "1e-320", "1e-9", "0.5", "3.141592653589793", "255", "65536", "1e3", "9.99e3", "1e4",
    "1e5", "1.9e5", "2e5", "1e6", "1e8", "1e9", "1e12", "1e15", "1e38", "1e150", "1e300", "1e308", "-1e308", "1e309",
    "nan", "inf", "-inf", "2147483647", "-2147483648", "4294967296", "9223372036854775807", "18446744073709551616",
    "99999999999999999999", "-999999999999", "0x10", "1_0", "\u0663", "1,5", "1e", ".", "", " ", "true", "null",
)  # fmt: skip
"""As they are written: bounds of types and of readers, what a float cannot hold, and what only looks like a number."""
LONG_NUMBER = "9" * 5000
"""Longer than Python turns into an integer unasked."""
TEXTS = (
    "", " ", "\t", "-", "--", "/", "..", "/dev/null", "\u00e4", "\u202e", "\U0001f697", "\x7f", "\x85", "'", '"', "<",
    "&", "&amp;", "]]>", "%s%n", "{}", "[]", "$x", "${1/0}", "${10**9}", "none", "None", "standard", "driving", "road",
    "junction", "a" * 300, "a" * 70_000,
)  # fmt: skip
"""Names that are none, or mean something elsewhere."""
VALUES: tuple[object, ...] = (
    None, True, False, 0, -1, 0.5, 1e9, 1e308, -1e308, 10**30, 2**31, 2**53 + 1, "", "nan", "x" * 1000, [], [[]], {},
    [0.0], {"x": 1.0}, [1.0, 2.0, 3.0], [None] * 50,
)  # fmt: skip
"""Values of JSON and YAML in the place of others."""
NESTED = 2_000
"""Levels of a nested value: deeper than a reader may call itself."""
MANY = (2, 3, 10, 200)
"""How often something is said again."""
