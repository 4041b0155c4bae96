import assert from "node:assert/strict";
import { test } from "node:test";

import { TimeAxis } from "../../../tuling_fsm/viewer/page/axis.js";
import { Camera } from "../../../tuling_fsm/viewer/page/camera.js";
import { Clock, clockText } from "../../../tuling_fsm/viewer/page/clock.js";

test("the clock goes on as fast as it is told, and stops at the end", () => {
  const clock = new Clock(0, 10);
  let told = 0;
  clock.onChange(() => (told += 1));
  clock.faster(2);
  clock.play(true);
  clock.frame(1000);
  clock.frame(1500);
  assert.equal(clock.speed, 4);
  assert.equal(clock.t, 2);
  clock.frame(9000);
  assert.equal(clock.t, 10);
  assert.equal(clock.playing, false);
  assert.ok(told >= 4);
  clock.play(true);
  assert.equal(clock.t, 0);
});

test("a moment outside is the nearest one inside, and no number is none", () => {
  const clock = new Clock(2, 5);
  for (const [asked, found] of [[-1, 2], [9, 5], [3, 3], [NaN, 3]]) {
    clock.seek(asked);
    assert.equal(clock.t, found);
  }
});

test("times are written as people do", () => {
  assert.deepEqual([0, 59.96, 143.25, 3723.4, -1].map(clockText), ["0:00.0", "1:00.0", "2:23.3", "1:02:03.4", "-0:01.0"]);
});

test("a stretch is shown, kept inside, and left for the next one", () => {
  const axis = new TimeAxis(0, 100);
  axis.show(-5, 20);
  assert.deepEqual([axis.from, axis.to], [0, 20]);
  assert.equal(axis.time(axis.pixel(7)), 7);
  axis.keepInView(50);
  assert.deepEqual([axis.from, axis.to], [48, 68]);
  axis.keepInView(99.9);
  assert.deepEqual([axis.from, axis.to], [80, 100]);
  axis.show(3, 3.1);
  assert.deepEqual([axis.from, axis.to], [0, 100]);
});

test("the point under the pointer stays there", () => {
  const camera = Object.assign(new Camera(), { width: 800, height: 600, follow: false, x: 10, y: 20 });
  const before = camera.toMap(100, 500);
  camera.zoom(2, 100, 500);
  const after = camera.toMap(100, 500);
  assert.ok(Math.hypot(after[0] - before[0], after[1] - before[1]) < 1e-9);
  assert.deepEqual(camera.toScreen(...after).map(Math.round), [100, 500]);
  camera.zoom(1e9);
  assert.equal(camera.scale, 80);
});
