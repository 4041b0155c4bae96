/** What is drawn over the scenery of a map: directions, numbers of roads, signals, a route, and what is looked at. */

import { at, label, line, pen } from "#film/brush.js";
import { LIGHTS, palette } from "#film/palette.js";

/**
 * @typedef {import("#film/brush.js").Surface} Surface
 * @typedef {{x: number, y: number}} Point
 * @typedef {{id: string, number: number, type: string, dynamic: boolean, controller: string | null, x: number, y: number,
 *   heading: number}} Signal
 * @typedef {{lane: number, s: number, kind: string, signal: number, ends: number[]}} StopLine
 * @typedef {{length: number, xy: number[], lanes: {lane: number, s: number, change: number}[]}} RouteLanes
 */

const STOPS = /** @type {Record<string, string>} */ ({ light: LIGHTS["red"], stop: "#c2185b", yield: LIGHTS["yellow"] });
/** Arrows of travel are drawn from this scale on, numbers where so much room is around each, px. */
const ARROWS_FROM = 2.5;
const NUMBER_ROOM = 46;

/** @param {Surface} surface @param {Path2D[]} outlines @param {string} colour @param {number} alpha */
export function tint({ ink }, outlines, colour, alpha) {
  ink.fillStyle = colour;
  ink.globalAlpha = alpha;
  outlines.forEach((outline) => ink.fill(outline));
  ink.globalAlpha = 1;
}

/** @param {Surface} surface @param {RouteLanes} route @returns {number} */
export function drawRoute(surface, route) {
  const { ink, camera } = surface;
  ink.lineCap = "round";
  pen(surface, palette().ego, 1.1, 4);
  ink.globalAlpha = 0.8;
  line(ink, route.xy);
  ink.globalAlpha = 1;
  ink.lineCap = "butt";
  pen(surface, palette().label, 0.3, 1.6);
  const every = 60 / camera.scale;
  let next = 0.5 * every;
  for (let i = 2; i < route.xy.length; i += 2) {
    const [x0, y0, x1, y1] = route.xy.slice(i - 2, i + 2);
    const length = Math.hypot(x1 - x0, y1 - y0);
    for (; next < length; next += every) {
      const share = next / length;
      arrow(surface, x0 + share * (x1 - x0), y0 + share * (y1 - y0), Math.atan2(y1 - y0, x1 - x0), 4 / camera.scale);
    }
    next -= length;
  }
  return route.xy.length / 2;
}

/** @param {Surface} surface @param {number} x @param {number} y @param {number} heading @param {number} size m */
function arrow(surface, x, y, heading, size) {
  at(surface, x, y, heading, () => line(surface.ink, [-size, size, 0, 0, -size, -size]));
}

/** @param {Surface} surface @param {{x: number, y: number, heading: number}[]} middles of lanes @returns {number} */
export function drawDirections(surface, middles) {
  const { camera } = surface;
  if (camera.scale < ARROWS_FROM) {
    return 0;
  }
  pen(surface, palette().faint, 0.12, 1.2);
  const seen = middles.filter((each) => inView(surface, each));
  seen.forEach(({ x, y, heading }) => arrow(surface, x, y, heading, Math.max(0.7, 4 / camera.scale)));
  return seen.length;
}

/** @param {Surface} surface @param {StopLine[]} stopLines @param {Signal[]} signals @returns {number} */
export function drawSignals(surface, stopLines, signals) {
  const { ink, camera } = surface;
  for (const stop of stopLines) {
    pen(surface, STOPS[stop.kind] ?? palette().line, 0.4, 2);
    line(ink, stop.ends);
  }
  const radius = Math.max(0.5, Math.min(4.5, 2 + camera.scale) / camera.scale);
  for (const { x, y, dynamic } of signals) {
    ink.fillStyle = dynamic ? LIGHTS["red"] : LIGHTS["yellow"];
    ink.beginPath();
    if (dynamic) {
      ink.arc(x, y, radius, 0, 7);
    } else {
      ink.rect(x - 0.8 * radius, y - 0.8 * radius, 1.6 * radius, 1.6 * radius);
    }
    ink.fill();
    pen(surface, palette().ink, 0.08, 1);
    ink.stroke();
  }
  return stopLines.length + signals.length;
}

/** Numbers of roads where there is room for them. @param {Surface} surface
 * @param {{road: string, x: number, y: number}[]} roads the longest first @returns {number} */
export function drawNumbers({ ink, camera, ratio }, roads) {
  const colours = palette();
  const taken = new Set();
  ink.save();
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  ink.font = "11px system-ui, sans-serif";
  ink.textAlign = "center";
  ink.textBaseline = "middle";
  for (const { road, x, y } of roads) {
    const [px, py] = camera.toScreen(x, y);
    const spot = `${Math.floor(px / NUMBER_ROOM)} ${Math.floor(py / NUMBER_ROOM)}`;
    if (px > 0 && py > 0 && px < camera.width && py < camera.height && !taken.has(spot)) {
      taken.add(spot);
      const width = ink.measureText(road).width + 8;
      ink.fillStyle = colours.label;
      ink.beginPath();
      ink.roundRect(px - width / 2, py - 8, width, 16, 4);
      ink.fill();
      ink.fillStyle = colours.labelInk;
      ink.fillText(road, px, py);
    }
  }
  ink.restore();
  return taken.size;
}

/** Start and goal. @param {Surface} surface @param {[number, number][]} ends */
export function drawEnds(surface, ends) {
  ends.forEach(([x, y], i) => {
    disc(surface, x, y, i ? palette().wall : palette().slotFree, 6);
    label(surface, x, y, i ? "to" : "from");
  });
}

/** The pose that was picked. @param {Surface} surface @param {Point} point @param {number} heading rad */
export function drawPick(surface, { x, y }, heading) {
  const { camera } = surface;
  const colour = palette().person;
  const length = Math.max(4, 26 / camera.scale);
  pen(surface, colour, 0.15, 2.5);
  at(surface, x, y, heading, () => line(surface.ink, [0, 0, length, 0]));
  const tip = { x: x + length * Math.cos(heading), y: y + length * Math.sin(heading) };
  arrow(surface, tip.x, tip.y, heading, Math.max(0.9, 6 / camera.scale));
  disc(surface, x, y, colour, 4.5);
}

/** @param {Surface} surface @param {number} x @param {number} y @param {string} colour @param {number} radius px */
function disc(surface, x, y, colour, radius) {
  const { ink, camera } = surface;
  ink.beginPath();
  ink.arc(x, y, radius / camera.scale, 0, 7);
  ink.fillStyle = colour;
  ink.fill();
  pen(surface, palette().label, 0, 1.5);
  ink.stroke();
}

/** @param {Surface} surface @param {Point} point @returns {boolean} */
function inView({ camera }, { x, y }) {
  const [px, py] = camera.toScreen(x, y);
  return px > -20 && py > -20 && px < camera.width + 20 && py < camera.height + 20;
}
