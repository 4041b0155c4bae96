/**
 * Which lane lies at a point, and what is known of it: the search of `tuling_fsm/map/surface.py` and the choice of
 * `RoadMap.project`, over the samples of `tuling_fsm/viewer/lane_columns.py`.
 */

import { starts } from "#film/columns.js";

/**
 * @typedef {import("#film/columns.js").Columns} Columns
 * @typedef {{row: number, road: string, section: number, lane: number, type: string, rank: number, junction: string,
 *   limit: number}} Lane `limit` m/s; `rank` 0 is a driving lane, 1 another of the carriageway, 2 is off the road
 * @typedef {{lane: Lane, s: number, station: number, offset: number, outside: number, width: number, heading: number,
 *   lineLeft: string, lineRight: string}} LanePlace `s` along the lane and `offset` + to its left (m), `station` that
 *   of the road, `heading` of travel (rad)
 */

/** Edge of a cell of the grid, m. */
const CELL_M = 10;
/** A point so far outside of a lane still lies on it: maps have hairline gaps, m. */
const ON_LANE_M = 0.05;
/** Metres of offset that lying in a junction weighs, and each metre outside of the lane. */
const JUNCTION_WEIGHT = 1;
const OUTSIDE_WEIGHT = 2;
const EPSILON = 1e-6;

export class Lanes {
  /** @param {Columns} columns @param {{texts: string[], types: {name: string, rank: number}[]}} names */
  constructor(columns, names) {
    this.names = names;
    const of = (/** @type {string} */ name) => columns.get(`lane.${name}`);
    const [road, section, lane, type, junction, limit] = ["road", "section", "lane", "type", "junction", "limit"].map(of);
    /** @type {Lane[]} */
    this.all = Array.from(road, (_, row) => ({
      row, road: names.texts[road[row]], section: section[row], lane: lane[row], type: names.types[type[row]].name,
      rank: names.types[type[row]].rank, junction: names.texts[junction[row]], limit: limit[row],
    })); // prettier-ignore
    this.first = starts(columns.get("lane.n"));
    this.firstMark = starts(columns.get("lane.marks"));
    this.x = columns.get("sample.x");
    this.y = columns.get("sample.y");
    this.heading = columns.get("sample.heading");
    this.s = columns.get("sample.s");
    this.station = columns.get("sample.station");
    this.left = columns.get("sample.left");
    this.right = columns.get("sample.right");
    this.markSide = columns.get("mark.side");
    this.markName = columns.get("mark.name");
    this.markFrom = columns.get("mark.from");
    this.markTo = columns.get("mark.to");
    /** @type {Map<string, number[]>} stretches, by their first sample, and the lane of each in turn */
    this.cells = new Map();
    this.index();
  }

  index() {
    const { x, y, left, right } = this;
    this.all.forEach(({ row }) => {
      for (let i = this.first[row]; i + 1 < this.first[row + 1]; i += 1) {
        const reach = Math.max(left[i], right[i], left[i + 1], right[i + 1]) + 0.1;
        const [c0, c1] = [Math.min(x[i], x[i + 1]) - reach, Math.max(x[i], x[i + 1]) + reach].map(cell);
        const [r0, r1] = [Math.min(y[i], y[i + 1]) - reach, Math.max(y[i], y[i + 1]) + reach].map(cell);
        for (let c = c0; c <= c1; c += 1) {
          for (let r = r0; r <= r1; r += 1) {
            const key = `${c} ${r}`;
            const items = this.cells.get(key);
            if (items) {
              items.push(i, row);
            } else {
              this.cells.set(key, [i, row]);
            }
          }
        }
      }
    });
  }

  /** The lane at a point (m): a driving lane if one is there, else another of the carriageway, else one beside it.
   * @param {number} x @param {number} y @returns {LanePlace | null} */
  at(x, y) {
    const found = this.search(x, y);
    for (const rank of [0, 1, 2]) {
      const there = found.filter(({ lane }) => lane.rank === rank);
      if (there.length) {
        return there.reduce((best, each) => (misfit(each) < misfit(best) ? each : best));
      }
    }
    return null;
  }

  /** Every lane whose surface holds the point, by row. @param {number} x @param {number} y @returns {LanePlace[]} */
  search(x, y) {
    /** @type {Map<number, [number, number]>} by lane its nearest stretch and how far that is, squared */
    const nearest = new Map();
    const items = this.cells.get(`${cell(x)} ${cell(y)}`) ?? [];
    for (let k = 0; k < items.length; k += 2) {
      const apart = this.apartSquared(items[k], x, y);
      if (apart < (nearest.get(items[k + 1])?.[1] ?? Infinity)) {
        nearest.set(items[k + 1], [items[k], apart]);
      }
    }
    return [...nearest]
      .sort((a, b) => a[0] - b[0])
      .map(([row, [i]]) => this.describe(row, i, x, y))
      .filter(({ outside }) => outside <= ON_LANE_M);
  }

  /** @param {number} i @param {number} x @param {number} y @returns {number} m^2 */
  apartSquared(i, x, y) {
    const [dx, dy, px, py] = this.fromSample(i, x, y);
    const u = Math.min(Math.max((px * dx + py * dy) / Math.max(dx * dx + dy * dy, 1e-18), 0), 1);
    return (px - u * dx) ** 2 + (py - u * dy) ** 2;
  }

  /** The stretch, and the point from its beginning. @param {number} i @param {number} x @param {number} y */
  fromSample(i, x, y) {
    return [this.x[i + 1] - this.x[i], this.y[i + 1] - this.y[i], x - this.x[i], y - this.y[i]];
  }

  /** @param {number} row @param {number} i @param {number} x @param {number} y @returns {LanePlace} */
  describe(row, i, x, y) {
    const [dx, dy, px, py] = this.fromSample(i, x, y);
    const step = Math.max(Math.hypot(dx, dy), 1e-9);
    const free = (px * dx + py * dy) / (step * step);
    const u = Math.min(Math.max(free, 0), 1);
    const before = i === this.first[row] ? -free : 0;
    const after = i + 2 === this.first[row + 1] ? free - 1 : 0;
    const beyond = Math.max(before, after, 0) * step;
    const cross = (dx * py - dy * px) / step;
    const offset = beyond > 0 ? cross : Math.sign(cross) * Math.hypot(px - u * dx, py - u * dy);
    const mix = (/** @type {Float64Array} */ values) => values[i] + u * (values[i + 1] - values[i]);
    const [left, right, s] = [mix(this.left), mix(this.right), mix(this.s)];
    const aside = Math.max(offset - left, -offset - right, 0);
    return {
      lane: this.all[row], s, offset, outside: Math.hypot(aside, beyond), width: left + right,
      station: mix(this.station), heading: wrapped(mix(this.heading)),
      lineLeft: this.line(row, 0, s), lineRight: this.line(row, 1, s),
    }; // prettier-ignore
  }

  /** The words for the line beside a lane. @param {number} row @param {number} side 0 is the left one
   * @param {number} s m @returns {string} */
  line(row, side, s) {
    for (let k = this.firstMark[row]; k < this.firstMark[row + 1]; k += 1) {
      if (this.markSide[k] === side && this.markFrom[k] - EPSILON <= s && s <= this.markTo[k] + EPSILON) {
        return this.names.texts[this.markName[k]];
      }
    }
    return "none";
  }

  /** The outline of a lane as a path. @param {number} row @returns {Path2D} */
  outline(row) {
    const path = new Path2D();
    const [begin, end] = [this.first[row], this.first[row + 1]];
    for (let i = begin; i < end; i += 1) {
      path.lineTo(...this.beside(i, this.left[i]));
    }
    for (let i = end - 1; i >= begin; i -= 1) {
      path.lineTo(...this.beside(i, -this.right[i]));
    }
    path.closePath();
    return path;
  }

  /** @param {number} i @param {number} offset m @returns {[number, number]} */
  beside(i, offset) {
    return [this.x[i] - offset * Math.sin(this.heading[i]), this.y[i] + offset * Math.cos(this.heading[i])];
  }

  /** Where a lane is half driven. @param {number} row @returns {{x: number, y: number, heading: number}} */
  middle(row) {
    const [begin, last] = [this.first[row], this.first[row + 1] - 1];
    const half = 0.5 * (this.s[begin] + this.s[last]);
    let i = begin;
    while (i + 2 <= last && this.s[i + 1] < half) {
      i += 1;
    }
    const u = (half - this.s[i]) / Math.max(this.s[i + 1] - this.s[i], 1e-9);
    const mix = (/** @type {Float64Array} */ values) => values[i] + u * (values[i + 1] - values[i]);
    return { x: mix(this.x), y: mix(this.y), heading: mix(this.heading) };
  }

  /** @param {number} row @returns {number} m */
  length(row) {
    return this.s[this.first[row + 1] - 1];
  }

  /** What some lanes take up. @param {Lane[]} lanes @returns {[number, number, number, number]} x0, y0, x1, y1 */
  bounds(lanes) {
    /** @type {[number, number, number, number]} */
    const box = [Infinity, Infinity, -Infinity, -Infinity];
    for (const { row } of lanes) {
      for (let i = this.first[row]; i < this.first[row + 1]; i += 1) {
        box[0] = Math.min(box[0], this.x[i]);
        box[1] = Math.min(box[1], this.y[i]);
        box[2] = Math.max(box[2], this.x[i]);
        box[3] = Math.max(box[3], this.y[i]);
      }
    }
    return box;
  }
}

/** @param {number} metres @returns {number} */
function cell(metres) {
  return Math.floor(metres / CELL_M);
}

/** @param {LanePlace} place @returns {number} */
function misfit({ offset, outside, lane }) {
  return Math.abs(offset) + OUTSIDE_WEIGHT * outside + (lane.junction ? JUNCTION_WEIGHT : 0);
}

/** @param {number} angle @returns {number} from -pi to pi */
function wrapped(angle) {
  return angle - 2 * Math.PI * Math.floor((angle + Math.PI) / (2 * Math.PI));
}
