import assert from "node:assert/strict";
import { test } from "node:test";

import { ranges } from "../../../tuling_fsm/viewer/page/machine/chart.js";
import { Engine } from "../../../tuling_fsm/viewer/page/machine/engine.js";
import { layoutOf, NARROW, WIDE } from "../../../tuling_fsm/viewer/page/machine/layout.js";
import { ancestors, covers, MachineTable } from "../../../tuling_fsm/viewer/page/machine/tables.js";
import { headlineWords, share, timerWords } from "../../../tuling_fsm/viewer/page/machine/words.js";

const leaf = (path, more = {}) => ({ path, minDwellS: 0.5, retryS: 1, terminal: false, enabled: true, asksItself: false, words: "", ...more });
const row = (source, dest, guard, order, more = {}) => ({
  source, dest, guard, priority: "progress", rank: [3, order], clause: "T-1", dwellS: 0.3, minDwellS: null, safety: false,
  deadline: false, ...more,
}); // prettier-ignore

const TABLE = new MachineTable({
  name: "t",
  initial: "out",
  states: [{ path: "out", initial: "a" }, leaf("out/a"), leaf("out/b"), { path: "in", initial: "c" }, leaf("in/c"), leaf("in/off", { enabled: false })],
  rows: [row("out/a", "out/b", "go", 1), row("out", "in", "leave", 0), row("in/c", "out", "come", 0), row("in/c", "in/off", "never", 1)],
});
const TIMING = { maxGapS: 1, toleranceS: 1e-6 };

test("paths", () => {
  assert.deepEqual(ancestors("a/b/c"), ["a", "a/b"]);
  assert.deepEqual([covers("a", "a/b"), covers("a", "ab"), covers("a/b", "a")], [true, false, false]);
  assert.equal(TABLE.resolve("out"), "out/a");
  assert.deepEqual(TABLE.rowsFrom.get("out/a").map(({ guard }) => guard), ["leave", "go"]);
  assert.deepEqual(TABLE.rowsFrom.get("in/c").map(({ guard }) => guard), ["come"], "none leads into a state that is disabled");
});

test("a row fires after its dwell and that of the state, and what lost is told", () => {
  const engine = new Engine(TABLE, TIMING);
  const fired = [];
  for (let k = 0; k <= 10; k += 1) {
    engine.advance(k * 0.05);
    fired.push(engine.step(new Set(["go", "leave"])));
  }
  assert.deepEqual(fired.slice(0, 10).map((step) => step.fired), new Array(10).fill(null));
  assert.equal(fired[10].fired.guard, "leave");
  assert.deepEqual(fired[10].rejected.map(({ guard }) => guard), ["go"]);
  assert.equal(engine.record.path, "in/c");
});

test("a frozen machine keeps the time that its timers have left", () => {
  const engine = new Engine(TABLE, TIMING);
  engine.advance(0);
  const before = engine.step(new Set(["go"])).pending[0].remainingS;
  for (const stamp of [0.5, 1, 1.5]) {
    assert.equal(engine.freeze(stamp), 0);
  }
  engine.advance(1.5);
  assert.equal(engine.step(new Set(["go"])).pending[0].remainingS, before);
  assert.equal(engine.advance(3), 1.5, "a jump is told");
  assert.equal(engine.record.trueSince.size, 0);
});

test("numbers of rows are told as ranges", () => {
  assert.equal(ranges([1, 2, 3, 5, 7, 8]), "1-3 5 7 8");
  assert.equal(ranges([]), "");
});

test("how far a timer is", () => {
  assert.equal(share({ row: TABLE.rows[0], heldS: 0.1, remainingS: 0.3 }), 0.25);
  assert.equal(timerWords({ row: TABLE.rows[0], heldS: 0.1, remainingS: 0.2 }), "holds for 0.10 s of 0.30 s");
  assert.match(timerWords({ row: TABLE.rows[0], heldS: 0.1, remainingS: 0.4 }), /the state itself is kept for 0.40 s more/);
});

test("a frozen moment, a jump and nothing at all are said", () => {
  const seen = { path: "out/a", inStateS: 1, sinceT: 0, timers: [], last: null };
  const moment = { t: 1, frozen: false, jump: 0, machines: new Map() };
  assert.equal(headlineWords(moment, seen, false), "No guard of out/a holds: it stays.");
  assert.match(headlineWords({ ...moment, frozen: true }, seen, false), /emergency stop holds everything/);
  assert.match(headlineWords({ ...moment, jump: -5 }, seen, false), /jumped by -5.00 s/);
});

for (const [name, room] of Object.entries({ WIDE, NARROW })) {
  test(`no box of the chart lies on another one: ${name}`, () => {
    const layout = layoutOf([TABLE], room);
    assert.deepEqual(layout.leaves.map(({ path }) => path).sort(), TABLE.leaves.map(({ path }) => path).sort());
    for (const boxes of [layout.groups, layout.leaves]) {
      for (const [i, a] of boxes.entries()) {
        for (const b of boxes.slice(i + 1)) {
          const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
          assert.ok(apart, `${a.path} and ${b.path}`);
        }
      }
    }
    for (const box of layout.groups) {
      assert.ok(box.x >= 0 && box.x + box.width <= layout.width && box.y + box.height <= layout.height);
    }
  });
}
