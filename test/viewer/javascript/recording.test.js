import assert from "node:assert/strict";
import { test } from "node:test";

import { Recording } from "../../../tuling_fsm/viewer/page/recording.js";

/** Tracks of the pieces in a table: a row a piece with its columns, by name. */
function tracksOf(pieces) {
  const columns = { get: (name) => pieces.map((piece) => piece[name.replace("track.", "")]) };
  const recording = { columns, pieces: 0, objectRows: 0, tracks: [], lastTracks: new Map() };
  Recording.prototype.indexTracks.call(recording);
  return recording.tracks.map(({ first, rows }) => [first, rows]);
}

test("a track that was told in pieces is one, also where two have one number", () => {
  const alike = { id: 7, kind: 1, length: 4.5, width: 1.9, rain: 1, n: 2 };
  const pieces = [0, 2].flatMap((first) => [{ ...alike, first, nth: 0 }, { ...alike, first, nth: 1 }]);
  assert.deepEqual(tracksOf(pieces), [[0, [0, 1, 4, 5]], [0, [2, 3, 6, 7]]]);
});
