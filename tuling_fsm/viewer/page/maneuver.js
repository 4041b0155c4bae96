/** A free-space manoeuvre at a moment, and how it is drawn: polygons, what is swept, the path by gear, the car. */

import { at, pen } from "#film/brush.js";
import { body, outline } from "#film/car.js";
import { lastUpTo } from "#film/columns.js";
import { palette } from "#film/palette.js";
import { egoAt } from "#film/recording.js";

/**
 * @typedef {import("#film/brush.js").Surface} Surface
 * @typedef {import("#film/columns.js").Columns} Columns
 * @typedef {import("#film/recording.js").EgoState} EgoState
 * @typedef {{x: number, y: number, heading: number}} Place
 * @typedef {{gear: number, from: number, to: number, length: number}} Move `gear` 1 is forward, -1 in reverse
 */

/** Between two footprints of what is swept, m. */
const SWEPT_EVERY_M = 0.6;

/** @param {number} gear @returns {string} */
export function gearColour(gear) {
  return gear < 0 ? palette().person : palette().ego;
}

/** @param {number} gear @returns {string} */
export function gearWords(gear) {
  return gear < 0 ? "in reverse" : "forward";
}

export class Maneuver {
  /** @param {Columns} columns */
  constructor(columns) {
    this.columns = columns;
    this.header = columns.header;
    /** @type {Move[]} */
    this.moves = this.header["moves"];
    this.times = columns.get("ego.t");
    this.end = this.times.length ? this.times[this.times.length - 1] : 0;
    this.polygons = this.header["polygons"].map((/** @type {number[]} */ xy) => closed(xy));
    this.swept = this.footprints();
  }

  /** @param {number} t @returns {EgoState} the start, where nothing is driven */
  at(t) {
    return this.times.length ? egoAt(this.columns, t) : { ...this.header["start"], v: 0 };
  }

  /** @param {number} t @param {string} name @returns {number} of a column, at the last row up to t */
  value(t, name) {
    const values = this.columns.get(name);
    return values.length ? values[Math.max(lastUpTo(this.times, t), 0)] : 0;
  }

  /** @param {number} t @returns {Move | undefined} */
  moveAt(t) {
    return this.moves.find(({ from, to }) => from <= t && t < to) ?? this.moves[this.moves.length - 1];
  }

  /** Where the body is drawn to show what it sweeps. @returns {{t: number, gear: number}[]} */
  footprints() {
    const driven = this.columns.get("ego.s");
    const found = [];
    let next = 0;
    for (let i = 0; i < driven.length; i += 1) {
      if (driven[i] >= next) {
        found.push({ t: this.times[i], gear: this.moveAt(this.times[i])?.gear ?? 1 });
        next = driven[i] + SWEPT_EVERY_M;
      }
    }
    return found;
  }

  /** All of it at a moment. @param {Surface} surface @param {number} t */
  draw(surface, t) {
    const { ink } = surface;
    const colours = palette();
    const car = this.header["vehicle"];
    for (const polygon of this.polygons) {
      ink.fillStyle = colours.kerb;
      ink.fill(polygon);
      pen(surface, colours.object, 0.04, 1);
      ink.stroke(polygon);
    }
    for (const { t: then, gear } of this.swept) {
      this.ghost(surface, this.at(then), gearColour(gear), then <= t ? 0.2 : 0.08);
    }
    this.moves.forEach((move) => this.path(surface, move));
    this.place(surface, this.header["start"], colours.faint);
    this.place(surface, this.header["goal"], colours.slotFree);
    const ego = this.at(t);
    at(surface, ego.x, ego.y, ego.heading, () => {
      body(surface, car, this.value(t, "plan.steer"), gearColour(this.moveAt(t)?.gear ?? 1), 0.92);
    });
  }

  /** @param {Surface} surface @param {Place} place @param {string} colour @param {number} alpha */
  ghost(surface, place, colour, alpha) {
    const { ink } = surface;
    at(surface, place.x, place.y, place.heading, () => {
      outline(surface, this.header["vehicle"]);
      ink.globalAlpha = alpha;
      ink.fillStyle = colour;
      ink.fill();
      ink.globalAlpha = 1;
    });
  }

  /** @param {Surface} surface @param {Move} move */
  path(surface, { gear, from, to }) {
    const { ink } = surface;
    const [x, y] = [this.columns.get("ego.x"), this.columns.get("ego.y")];
    pen(surface, gearColour(gear), 0.12, 2.2);
    ink.beginPath();
    for (let i = Math.max(lastUpTo(this.times, from), 0); i <= lastUpTo(this.times, to + 1e-6); i += 1) {
      ink.lineTo(x[i], y[i]);
    }
    ink.stroke();
  }

  /** Start or goal. @param {Surface} surface @param {Place} place @param {string} colour */
  place(surface, place, colour) {
    const { ink } = surface;
    at(surface, place.x, place.y, place.heading, () => {
      outline(surface, this.header["vehicle"]);
      pen(surface, colour, 0.1, 2);
      ink.setLineDash([0.4, 0.25]);
      ink.stroke();
      ink.setLineDash([]);
    });
  }
}

/** @param {number[]} xy x and y in turn @returns {Path2D} */
function closed(xy) {
  const path = new Path2D();
  for (let i = 0; i < xy.length; i += 2) {
    path.lineTo(xy[i], xy[i + 1]);
  }
  path.closePath();
  return path;
}
