"""Of very many solid edges those around the car are taken."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.world import solids


@pytest.mark.parametrize("limit", [1, 7, 39])
def test_the_edges_whose_middles_are_nearest_are_kept_in_their_order(limit: int) -> None:
    draw = np.random.default_rng(limit)
    segments, x, y = draw.uniform(-20.0, 60.0, (40, 4)), 12.0, -5.0
    apart = np.hypot(0.5 * (segments[:, 0] + segments[:, 2]) - x, 0.5 * (segments[:, 1] + segments[:, 3]) - y)
    expected = segments[apart <= np.sort(apart)[limit - 1]]
    np.testing.assert_array_equal(solids._nearest(segments, x, y, limit), expected)


def test_few_edges_are_all_kept() -> None:
    segments = np.arange(12.0).reshape(3, 4)
    assert solids._nearest(segments, 0.0, 0.0, 3) is segments
