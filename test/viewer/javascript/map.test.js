import assert from "node:assert/strict";
import { test } from "node:test";

import { Columns } from "../../../tuling_fsm/viewer/page/columns.js";
import { Finder } from "../../../tuling_fsm/viewer/page/finder.js";
import { Lanes } from "../../../tuling_fsm/viewer/page/lanes.js";
import { pastes } from "../../../tuling_fsm/viewer/page/pose_text.js";

/** Columns that are given as they are. @param {Record<string, number[]>} values */
function columnsOf(values) {
  const found = Object.create(Columns.prototype);
  found.get = (/** @type {string} */ name) => Float64Array.from(values[name]);
  return found;
}

/** A driving lane along x, 3 m wide, with a pavement to its right; the line on its left is solid from 20 m on. */
const LANES = new Lanes(
  columnsOf({
    "lane.road": [0, 0], "lane.section": [0, 0], "lane.lane": [-1, -2], "lane.type": [0, 1], "lane.junction": [1, 1],
    "lane.limit": [10, 0], "lane.n": [2, 2], "lane.marks": [2, 0],
    "sample.x": [0, 40, 0, 40], "sample.y": [0, 0, -2.5, -2.5], "sample.heading": [0, 0, 0, 0],
    "sample.s": [0, 40, 0, 40], "sample.station": [100, 140, 100, 140],
    "sample.left": [1.5, 1.5, 1, 1], "sample.right": [1.5, 1.5, 1, 1],
    "mark.side": [0, 0], "mark.name": [2, 3], "mark.from": [0, 20], "mark.to": [20, 40],
  }),
  { texts: ["7", "", "broken", "solid"], types: [{ name: "driving", rank: 0 }, { name: "sidewalk", rank: 2 }] },
); // prettier-ignore

test("a lane is told with its station, offset and lines", () => {
  const place = LANES.at(30, 0.4);
  assert.deepEqual([place?.lane.road, place?.lane.lane, place?.station], ["7", -1, 130]);
  assert.ok(Math.abs((place?.offset ?? NaN) - 0.4) < 1e-12);
  assert.deepEqual([place?.lineLeft, place?.lineRight, LANES.at(10, 0)?.lineLeft], ["solid", "none", "broken"]);
  assert.equal(LANES.at(30, -2.5)?.lane.type, "sidewalk");
  assert.deepEqual([LANES.at(30, 1.6), LANES.at(41, 0)], [null, null]);
});

test("a place is written as scenarios take it", () => {
  const [onLane, pose, numbers] = pastes({ x: 30, y: -0.0001, place: LANES.at(30, -0.0001) }).map(({ text }) => text);
  assert.equal(onLane, 'here: odr_point = map.create_odr_point(road_id: "7", lane_id: "-1", s: 130m, t: 0m)');
  assert.match(pose, /create_xyz_point\(x: 30m, y: 0m\)\)\n {4}keep\(it.orientation.yaw == 0deg\)$/);
  assert.equal(numbers, "30 0");
  assert.equal(pastes({ x: 1, y: 9, place: null }).length, 2);
});

test("roads, signals and coordinates are found by their names, and nothing else", () => {
  const finder = new Finder(LANES, [{ id: "s1", number: 5, x: 3, y: 4 }], [], { x: 100, y: 0 });
  assert.deepEqual(finder.find("road 7")?.box, [0, -2.5, 40, 0]);
  assert.equal(finder.find("7")?.lanes.length, 2);
  assert.deepEqual([finder.find("signal 5")?.words, finder.find("Signal s1")?.words], ["signal s1", "signal s1"]);
  assert.deepEqual(finder.find("(101.5, -2)")?.box, [-23.5, -27, 26.5, 23]);
  for (const query of ["", "road", "road 8", "junction", "tower 7", "slot 1"]) {
    assert.equal(finder.find(query), null, query);
  }
});
