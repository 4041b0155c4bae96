from __future__ import annotations

from .__main__ import arguments_of


def test_tests_may_be_named_after_the_options() -> None:
    given = arguments_of(["behaviour", "--sample", "50", "--only", "traffic/priority", "test/behaviour/traffic"])
    assert (given.room, given.sample, given.only) == ("behaviour", 50, "traffic/priority")
    assert given.tests == ["test/behaviour/traffic"]
    assert arguments_of(["world"]).tests == []
