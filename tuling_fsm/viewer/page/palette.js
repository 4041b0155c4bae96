/** Colours by day and by night, and those of words: states, reasons, lights. */

/**
 * @typedef {{ground: string, asphalt: string, junction: string, verge: string, walk: string, parking: string,
 *   line: string, kerb: string, thing: string, crosswalk: string, slot: string, slotTaken: string, slotFree: string,
 *   ink: string, faint: string, ego: string, egoEdge: string, glass: string, other: string, person: string,
 *   object: string, route: string, wall: string, target: string, blocked: string, trail: string,
 *   predicted: string, label: string, labelInk: string, grid: string}} Palette
 */

/** @type {Palette} */
const DAY = {
  ground: "#e9ede6", asphalt: "#c3c8cf", junction: "#bbc1ca", verge: "#d9dccf", walk: "#dcdde3", parking: "#c9d3df",
  line: "#ffffff", kerb: "#8d8577", thing: "#7a5ca8", crosswalk: "#f7f8fa", slot: "#7f9cc4", slotTaken: "#c4554d",
  slotFree: "#2f8f5b", ink: "#1d2733", faint: "#66727f", ego: "#1668dc", egoEdge: "#0b3d8c", glass: "#d7e6fb",
  other: "#c026a8", person: "#d9480f", object: "#49566a", route: "#7d8fb3", wall: "#d92d20", target: "#1668dc",
  blocked: "#d92d20", trail: "#1668dc", predicted: "#8a3ffc", label: "rgba(255,255,255,0.88)", labelInk: "#1d2733", grid: "#dfe3e8",
}; // prettier-ignore

/** @type {Palette} */
const NIGHT = {
  ground: "#12161b", asphalt: "#2b323b", junction: "#303843", verge: "#1c2320", walk: "#222831", parking: "#26313f",
  line: "#aab4c0", kerb: "#5d6672", thing: "#9c7bd0", crosswalk: "#8e99a6", slot: "#4d6a94", slotTaken: "#e0695f",
  slotFree: "#48b47c", ink: "#e6ebf1", faint: "#8b97a5", ego: "#4c9aff", egoEdge: "#b9d8ff", glass: "#16314f",
  other: "#ef6bd9", person: "#ff8a4c", object: "#9aa8bb", route: "#51638c", wall: "#ff5a4f", target: "#4c9aff",
  blocked: "#ff5a4f", trail: "#4c9aff", predicted: "#be95ff", label: "rgba(18,22,27,0.85)", labelInk: "#e6ebf1", grid: "#262d36",
}; // prettier-ignore

/** @returns {boolean} */
export function isDark() {
  return document.documentElement.dataset["theme"] === "dark";
}

/** @returns {Palette} of the present theme */
export function palette() {
  return isDark() ? NIGHT : DAY;
}

const SERIES = ["#4e79a7", "#f28e2b", "#59a14f", "#b07aa1", "#76b7b2", "#e15759", "#9c755f", "#d4a72c", "#7a8ad8"];

/** @type {Record<string, string>} */
const STATES = {
  departure: "#7a8ad8", on_road: "#4e79a7", intersection: "#f28e2b", temporary_stop: "#b07aa1", parking: "#59a14f",
  emergency_stop: "#e15759", rain_fog: "#3f9c9a", route_refresh: "#8d7b68", high_speed: "#b8922a",
}; // prettier-ignore

/** @type {Record<string, string>} */
const CODES = {
  NONE: "#93a1b0", SPEED_LIMIT: "#93a1b0", CURVATURE: "#a9b4bf", PASSING: "#7f93a8", LEADER: "#f28e2b",
  QUEUE: "#d97b1c", CROSSING: "#d4a72c", OBSTACLE: "#b5651d", RED_LIGHT: "#e15759", STOP_SIGN: "#c2413b",
  PEDESTRIAN: "#d9480f", JUNCTION_OCCUPIED: "#d4a72c", ROUTE_END: "#59a14f", TARGET: "#3a9aa3", ARRIVED: "#59a14f",
  GEAR_CHANGE: "#b07aa1", STEERING: "#b07aa1", EMERGENCY_STOP: "#b3261e", PLAN_REJECTED: "#b3261e", won: "#2f9e5b",
}; // prettier-ignore

/** @type {Record<string, string>} */
export const LIGHTS = {
  red: "#f03e3e", yellow: "#f5b301", green: "#2fb457", red_yellow: "#f76707", flashing_yellow: "#f5b301",
  dark: "#55606c", unknown: "#8b97a5",
}; // prettier-ignore

/** @param {string} text @returns {string} the same one for the same text */
function bySum(text) {
  let sum = 0;
  for (const letter of text) {
    sum = (sum * 31 + letter.charCodeAt(0)) % 9973;
  }
  return SERIES[sum % SERIES.length];
}

/** @param {string} state as `on_road/normal` @returns {string} that of its composite */
export function stateColour(state) {
  const composite = state.split("/")[0];
  return STATES[composite] ?? bySum(composite);
}

/** @param {string} code @returns {string} */
export function codeColour(code) {
  return CODES[code] ?? bySum(code);
}

/** Viridis (van der Walt and Smith, 2015), from slow to fast. */
const VIRIDIS = [
  [68, 1, 84], [71, 44, 122], [59, 81, 139], [44, 113, 142], [33, 144, 141], [39, 173, 129], [92, 200, 99],
  [170, 220, 50], [253, 231, 37],
]; // prettier-ignore

/** @param {number} share from 0 to 1 @returns {string} */
export function speedColour(share) {
  const place = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
  const i = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const mixed = VIRIDIS[i].map((low, k) => Math.round(low + (place - i) * (VIRIDIS[i + 1][k] - low)));
  return `rgb(${mixed.join(",")})`;
}
