import assert from "node:assert/strict";
import { test } from "node:test";

import { distance } from "../../../tuling_fsm/viewer/page/summary.js";

/** What a drive comes to that has these stamps (s) and speeds (m/s). */
function driven(t, v) {
  const table = { "ego.t": t, "ego.v": v, "ego.x": t.map((_, i) => i % 2), "ego.y": t.map(() => 0) };
  return distance({ columns: { get: (name) => table[name] } });
}

test("a car that stands comes nowhere, however its poses tremble", () => {
  assert.equal(driven([0, 0.05, 0.1, 0.15], [0, 0, 0, 0]), 0);
});

test("metres are those of the speed, forward or in reverse, and of a gap none", () => {
  assert.equal(driven([0, 0.5, 1, 2, 40, 40.5], [4, 2, -1, 9, 2, 0]), 2 + 1 + 1 + 1);
});
