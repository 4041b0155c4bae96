import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import { Columns, decode, inflate, lastUpTo, starts } from "../../../tuling_fsm/viewer/page/columns.js";

/** Zigzag values of two bytes, low plane first, as the Python side lays them out. */
function planes(values) {
  const zigzag = values.map((value) => (value < 0 ? -2 * value - 1 : 2 * value));
  return new Uint8Array([...zigzag.map((value) => value & 255), ...zigzag.map((value) => value >> 8)]);
}

test("codes come back as they are", () => {
  const found = decode({ at: 0, n: 4, width: 2, order: 0, first: 0, step: 1 }, planes([0, -1, 300, -300]));
  assert.deepEqual([...found], [0, -1, 300, -300]);
});

test("second differences are added up twice", () => {
  const found = decode({ at: 0, n: 5, width: 2, order: 2, first: 1000, step: 0.5 }, planes([0, 2, 0, 0, 1]));
  assert.deepEqual([...found], [500, 501, 502, 503, 504.5]);
});

test("a column is where the header says", async () => {
  const header = JSON.stringify({ name: "x", columns: { a: { at: 2, n: 1, width: 2, order: 0, first: 5, step: 2 } } });
  const size = new Uint8Array(new Uint32Array([header.length]).buffer);
  const raw = Buffer.concat([size, Buffer.from(header), planes([7]), planes([4])]);
  const columns = new Columns(await inflate(deflateSync(raw).toString("base64")));
  assert.equal(columns.header.name, "x");
  assert.deepEqual([...columns.get("a")], [18]);
  assert.equal(columns.get("a"), columns.get("a"));
  assert.throws(() => columns.get("b"), /no column b/);
});

test("rows begin where those before end", () => {
  assert.deepEqual([...starts([2, 0, 3])], [0, 2, 2, 5]);
});

test("the last one that is not after a moment", () => {
  const times = [0, 1, 1, 4];
  assert.deepEqual([-0.5, 0, 1, 3.9, 4, 9].map((t) => lastUpTo(times, t)), [-1, 0, 2, 2, 3, 3]);
  assert.equal(lastUpTo([], 1), -1);
});
