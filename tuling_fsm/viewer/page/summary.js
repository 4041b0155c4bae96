/** The first lines: which run, how it ended, what it came to; and what the colours of speeds mean. */

import { clockText } from "#film/clock.js";
import { element } from "#film/dom.js";
import { FAST } from "#film/painter.js";
import { speedColour } from "#film/palette.js";

/** @typedef {import("#film/recording.js").Recording} Recording */

/** How far the car came in a longer gap nobody knows, s; stamps are in whole ms. */
const LONGEST_GAP_S = 1.0005;

/** @param {HTMLElement} place @param {Recording[]} recordings */
export function headline(place, recordings) {
  place.replaceChildren(...recordings.map((recording) => line(recording, recordings.length > 1)));
}

/** @param {Recording} recording @param {boolean} named @returns {HTMLElement} */
function line(recording, named) {
  const row = element("div", "run-line");
  const { header, infractions } = recording;
  const faults = infractions.filter((each) => each.at_fault).length;
  if (named) {
    row.append(element("span", `letter ${recording.name}`, recording.name));
  }
  row.append(element("h1", "", header.title));
  const { result } = header;
  if (result) {
    row.append(element("span", `verdict ${result.finished && !faults ? "good" : "bad"}`, `${result.finished ? "finished" : "not finished"} (${result.end})`));
    row.append(element("span", `verdict ${faults ? "bad" : "good"}`, `${faults} infraction${faults === 1 ? "" : "s"} at fault`));
  }
  const facts = [clockText(recording.end - recording.begin), `${distance(recording).toFixed(0)} m`, `${recording.stops.length} stop${recording.stops.length === 1 ? "" : "s"}`];
  if (result?.score) {
    facts.push(`nuPlan ${result.score.closed_loop.toFixed(2)}`, `CARLA ${result.score.driving.toFixed(2)}`);
  }
  row.append(...facts.map((fact) => element("span", "fact", fact)));
  return row;
}

/** By speed, as `why --time` has it: poses tremble while the car stands.
 * @param {Pick<Recording, "columns">} recording @returns {number} driven, m */
export function distance({ columns }) {
  const [t, v] = [columns.get("ego.t"), columns.get("ego.v")];
  let sum = 0;
  for (let i = 1; i < t.length; i += 1) {
    const lasted = t[i] - t[i - 1];
    sum += lasted <= LONGEST_GAP_S ? Math.abs(v[i - 1]) * lasted : 0;
  }
  return sum;
}

/** @param {HTMLElement} place */
export function scale(place) {
  const colours = Array.from({ length: 9 }, (_, i) => speedColour(i / 8));
  const bar = element("i");
  bar.style.background = `linear-gradient(90deg, ${colours.join(",")})`;
  place.replaceChildren("0", bar, `${FAST} m/s`);
}
