/** What is said beside the map: what lies under the pointer, and what was picked, to be copied. */

import { element, part } from "#film/dom.js";
import { headingOf, metres, pastes } from "#film/pose_text.js";

/**
 * @typedef {import("#film/pose_text.js").Pick} Pick
 * @typedef {import("#film/map_layers.js").Signal} Signal
 * @typedef {import("#film/map_layers.js").StopLine} StopLine
 * @typedef {{signal: Signal | undefined, stops: StopLine[]}} Beside
 */

const KMPH = 3.6;
const COPIED_MS = 1500;

/** @param {Pick} pick @param {Beside} beside @returns {[string, string][]} name and value of each line */
export function facts({ place }, { signal, stops }) {
  /** @type {[string, string][]} */
  const found = [];
  if (place) {
    const { lane } = place;
    found.push(["road", lane.road], ["lane", `${lane.lane} (section ${lane.section})`], ["type", lane.type]);
    if (lane.junction) {
      found.push(["junction", lane.junction]);
    }
    found.push(
      ["s, offset", `${place.station.toFixed(2)} m, ${place.offset.toFixed(2)} m`],
      ["width", `${place.width.toFixed(2)} m`],
      ["heading", `${place.heading.toFixed(3)} rad`],
      ["line left", place.lineLeft],
      ["line right", place.lineRight],
      ["speed limit", `${(lane.limit * KMPH).toFixed(0)} km/h (${lane.limit.toFixed(2)} m/s)`],
    );
  }
  for (const stop of stops) {
    found.push(["stop line", `${stop.kind}, signal ${stop.signal}`]);
  }
  if (signal) {
    found.push(["signal", signalWords(signal)]);
  }
  return found;
}

/** @param {Signal} signal @returns {string} */
function signalWords({ id, number, type, controller }) {
  const named = String(number) === id ? id : `${id} (number ${number})`;
  return `${named}, type ${type}${controller ? `, controller ${controller}` : ""}`;
}

/** @param {HTMLElement} place @param {string} title @param {[string, string][]} rows */
function list(place, title, rows) {
  const table = element("dl");
  table.append(...rows.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
  place.replaceChildren(element("h2", "", title), rows.length ? table : element("p", "quiet", "no lane"));
}

/** @param {Pick | null} pick @param {Beside} beside */
export function showUnder(pick, beside) {
  part("pointer").textContent = pick ? `x ${pick.x.toFixed(2)}  y ${pick.y.toFixed(2)} m` : "";
  if (pick) {
    list(part("under"), "Under the pointer", facts(pick, beside));
  } else {
    const says = "Move over the map to read it; click for a pose to paste into a scenario.";
    part("under").replaceChildren(element("h2", "", "Under the pointer"), element("p", "quiet", says));
  }
}

/** @param {Pick} pick @param {Beside} beside */
export function showPicked(pick, beside) {
  const place = part("clicked");
  list(place, "Picked", [
    ["x, y", `${metres(pick.x)} m, ${metres(pick.y)} m`],
    ["heading", `${headingOf(pick).toFixed(4)} rad`],
    ...facts(pick, beside).filter(([name]) => name !== "heading"),
  ]);
  for (const { title, text } of pastes(pick)) {
    const block = element("div", "paste");
    const head = element("small", "", title);
    const button = element("button", "", "copy");
    button.addEventListener("click", () => copy(text, button));
    head.append(button);
    block.append(head, element("pre", "", text));
    place.append(block);
  }
}

/** @param {string} text @param {HTMLElement} button */
function copy(text, button) {
  const say = (/** @type {string} */ words) => {
    button.textContent = words;
    setTimeout(() => (button.textContent = "copy"), COPIED_MS);
  };
  const copied = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject(new Error("no clipboard"));
  copied.then(() => say("copied"), () => say("mark it")); // prettier-ignore
}
