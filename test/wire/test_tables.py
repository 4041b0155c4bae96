"""Tables as PointCloud2 messages."""

from __future__ import annotations

import numpy as np
import pytest

from tuling_fsm.core.errors import InputError
from tuling_fsm.core.topics import CLOUD
from tuling_fsm.wire import cdr
from tuling_fsm.wire.tables import pack_table, unpack_table
from tuling_fsm.world.inputs import FAR_TABLES, TABLES

from .samples import NS, example_rows


@pytest.mark.parametrize(("topic", "dtype"), [*TABLES.items(), *FAR_TABLES.items()])
@pytest.mark.parametrize("n", [0, 1, 100])
def test_tables_come_back_bit_for_bit(topic, dtype, n):
    rows = example_rows(topic, n).astype(dtype)
    got = unpack_table(topic, pack_table(topic, NS, rows))
    assert got.stamp == cdr.seconds(NS)
    assert got.rows.dtype == dtype
    assert got.rows.tobytes() == rows.tobytes()


@pytest.mark.parametrize("topic", list(TABLES))
def test_the_packed_table_is_what_the_type_store_writes(topic):
    raw = pack_table(topic, NS, example_rows(topic, 7))
    message = cdr.unpack(raw, CLOUD, "test")
    assert (message.height, message.width, message.is_dense) == (1, 7, True)
    assert cdr.pack(CLOUD, message) == raw


def padded_objects(far=0.0, **types):
    """As a C++ struct would be: other order, padding, one more column; columns of other types than the topic's, and
    `x` so much farther away.
    """
    rows = example_rows("objects", 5)
    rows = rows.astype([(name, types.get(name, rows.dtype[name])) for name in rows.dtype.names])
    rows["x"] += far
    names = [*rows.dtype.names]
    order = np.random.default_rng(3).permutation(len(names))
    wide = np.zeros(5, np.dtype({
        "names": [names[i] for i in order] + ["class_score"],
        "formats": [rows.dtype[names[i]] for i in order] + ["<f8"],
        "offsets": [8 * k for k in range(len(names) + 1)],
        "itemsize": 8 * len(names) + 16,
    }))  # fmt: skip
    for name in names:
        wide[name] = rows[name]
    message = cdr.unpack(pack_table("objects", NS, rows.astype(TABLES["objects"])), CLOUD, "test")
    field = cdr.TYPES["sensor_msgs/msg/PointField"]
    codes = {"u1": 2, "u4": 6, "f4": 7, "f8": 8}
    message.fields = [field(n, wide.dtype.fields[n][1], codes[wide.dtype[n].str[1:]], 1) for n in wide.dtype.names]
    message.point_step = wide.dtype.itemsize
    message.row_step = wide.nbytes
    message.data = np.frombuffer(wide.tobytes(), np.uint8)
    return rows, message


def test_columns_are_found_by_name_wherever_they_lie():
    rows, message = padded_objects()
    got = unpack_table("objects", cdr.pack(CLOUD, message))
    assert got.rows.tobytes() == rows.tobytes()


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: setattr(m.header, "frame_id", "base_link"), "frame_id 'base_link' (expected 'map')"),
        (lambda m: setattr(m.fields[0], "name", "identity"), "no column"),
        (lambda m: setattr(m.fields[0], "datatype", 1), "column"),
        (lambda m: setattr(m.fields[0], "datatype", 99), "column"),
        (lambda m: setattr(m.fields[0], "count", 3), "column"),
        (lambda m: setattr(m.fields[0], "offset", 10_000), "beyond the row"),
        (lambda m: setattr(m, "width", 6), "bytes for 6 rows"),
        (lambda m: setattr(m, "width", 2**32 - 1), "bytes for 4294967295 rows"),
        (lambda m: setattr(m, "is_bigendian", True), "big-endian"),
    ],
)
def test_bad_tables_are_refused_with_one_line(change, said):
    _, message = padded_objects()
    change(message)
    with pytest.raises(InputError) as error:
        unpack_table("objects", cdr.pack(CLOUD, message))
    assert said in str(error.value)


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda m: setattr(m.header, "frame_id", "pam"), "frame_id 'pam' (expected 'map')"),
        (lambda m: setattr(m.fields[2], "datatype", 1), "column source"),
        (lambda m: setattr(m, "width", 6), "bytes for 6 rows"),
        (lambda m: setattr(m, "height", 2), "bytes for 14 rows"),
        (lambda m: setattr(m, "point_step", 39), "bytes for 7 rows of 39"),
        (lambda m: setattr(m, "is_bigendian", True), "big-endian"),
    ],
)
def test_a_fault_is_found_in_a_table_that_is_laid_out_as_the_planner_does(change, said):
    message = cdr.unpack(pack_table("objects", NS, example_rows("objects", 7)), CLOUD, "objects")
    change(message)
    with pytest.raises(InputError) as error:
        unpack_table("objects", cdr.pack(CLOUD, message))
    assert said in str(error.value)


@pytest.mark.parametrize("wide", [("x", "y"), ("x",)])
def test_places_far_from_the_origin_may_be_f8(wide):
    rows, message = padded_objects(5e5 + 0.678, **dict.fromkeys(wide, "<f8"))
    got = unpack_table("objects", cdr.pack(CLOUD, message)).rows
    assert got.dtype == FAR_TABLES["objects"]
    assert got.tolist() == rows.tolist()


@pytest.mark.clause("SAF-3")
def test_other_columns_than_places_may_not_be_f8():
    _, message = padded_objects(heading="<f8")
    with pytest.raises(InputError, match=r"column heading is f8 x 1 \(expected one f4\)"):
        unpack_table("objects", cdr.pack(CLOUD, message))


@pytest.mark.clause("SAF-3")
def test_a_table_that_ends_before_its_rows_is_refused():
    raw = pack_table("objects", NS, example_rows("objects", 7))
    for size in range(0, len(raw) - 1, 5):
        with pytest.raises(InputError):
            unpack_table("objects", raw[:size])


@pytest.mark.clause("SAF-3")
@pytest.mark.parametrize("tables", [TABLES, FAR_TABLES])
def test_a_nan_in_a_table_is_named_with_its_row_and_column(tables):
    rows = example_rows("objects", 4).astype(tables["objects"])
    rows["vx"][2] = np.nan
    with pytest.raises(InputError, match="objects: vx of row 2 is nan"):
        unpack_table("objects", pack_table("objects", NS, rows))
