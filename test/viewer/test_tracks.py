"""Objects become tracks, message by message."""

from __future__ import annotations

import numpy as np
from scenes import row, table

from tuling_fsm.core.arrays import FloatArray
from tuling_fsm.viewer.columns import ColumnWriter, unpacked
from tuling_fsm.viewer.origin import PageOrigin
from tuling_fsm.viewer.tracks import ObjectTracks
from tuling_fsm.wire.tables import pack_table


def told(tracks: ObjectTracks) -> dict[str, FloatArray]:
    columns = ColumnWriter()
    tracks.add_to(columns)
    tracks.forget()
    return unpacked(columns.packed({}))[1]


def test_two_of_one_number_in_a_message_are_two_tracks() -> None:
    tracks = ObjectTracks(0.1, PageOrigin())
    for k in range(4):
        near, far, other = row(7, 10.0 + k, 0.0), row(7, 90.0 + k, 50.0), row(8, 40.0, 0.0)
        tracks.take(0.1 * k, pack_table("objects", k * 10**8, table(near, other, far)))
        if k == 1:
            first = told(tracks)
    for columns in (first, told(tracks)):
        assert columns["track.id"].tolist() == [7, 8, 7]
        assert columns["track.nth"].tolist() == [0, 0, 1]
        assert columns["track.n"].tolist() == [2, 2, 2]
        x = columns["object.x"].reshape(3, 2)
        assert np.allclose(np.diff(x, axis=1)[:, 0], [1.0, 0.0, 1.0], atol=0.03)
