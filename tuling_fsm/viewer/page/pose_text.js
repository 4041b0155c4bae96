/** A place of the map in the forms in which others take it: scenarios, and verbs of the command line. */

/**
 * @typedef {import("#film/lanes.js").LanePlace} LanePlace
 * @typedef {{x: number, y: number, place: LanePlace | null}} Pick a point, m, and what lies there
 * @typedef {{title: string, text: string}} Paste
 */

const DEGREES = 180 / Math.PI;

/** @param {Pick} pick @returns {number} that of travel, rad; along x where no lane is */
export function headingOf({ place }) {
  return place ? place.heading : 0;
}

/** @param {Pick} pick @returns {Paste[]} what can be pasted, and where */
export function pastes(pick) {
  const { x, y, place } = pick;
  const found = [];
  if (place && place.lane.rank === 0) {
    found.push({ title: "on its lane, for a scenario", text: roadPoint(place) });
  }
  found.push({ title: "as a pose, for a scenario", text: pose(x, y, headingOf(pick)) });
  found.push({ title: "for map --at, route --from and --to", text: `${metres(x)} ${metres(y)}` });
  return found;
}

/** @param {LanePlace} place @returns {string} */
function roadPoint({ lane, station, offset }) {
  const at = `road_id: ${JSON.stringify(lane.road)}, lane_id: "${lane.lane}", s: ${metres(station)}m, t: ${metres(offset)}m`;
  return `here: odr_point = map.create_odr_point(${at})`;
}

/** @param {number} x @param {number} y @param {number} heading rad @returns {string} */
function pose(x, y, heading) {
  return [
    "here: pose_3d with:",
    `    keep(it.position == map.create_xyz_point(x: ${metres(x)}m, y: ${metres(y)}m))`,
    `    keep(it.orientation.yaw == ${Number((heading * DEGREES).toFixed(2)) + 0}deg)`,
  ].join("\n");
}

/** @param {number} value @returns {string} to the millimetre, without an end of zeros */
export function metres(value) {
  return String(Number(value.toFixed(3)) + 0);
}
