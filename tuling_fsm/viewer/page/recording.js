/** One run: what was where, and what was said, at any moment of it. Times are seconds of the film. */

import { lastUpTo, starts } from "#film/columns.js";

/**
 * @typedef {import("#film/columns.js").Columns} Columns
 * @typedef {{x: number, y: number, heading: number, v: number}} EgoState rear axle in `map`, m, rad, m/s
 * @typedef {{id: number, kind: string, length: number, width: number, counts: boolean,
 *   x: number, y: number, heading: number, vx: number, vy: number}} SeenObject
 * @typedef {{name: string, from: number, to: number, numbers: number[], words: string}} MarkerSpan
 * @typedef {{name: string, t: number, xy: number[]}} RouteLine
 * @typedef {{t: number, from: string, to: string, clause: string, guard: string, dwell: number,
 *   supervisor: boolean, rejected: string[]}} StateChange
 * @typedef {{from: number, to: number, code: string, words: string}} Standstill
 * @typedef {{t: number, kind: string, detail: string, at_fault: boolean}} Infraction
 * @typedef {{code: string, words: string, level: number, distance: number, blocker: number, held: number,
 *   inState: number, next: string, timeoutLeft: number, t: number}} WhyMoment
 * @typedef {{dest: string, guard: string, clause: string, held: number, of: number}} DwellTimer
 * @typedef {{x: number, y: number, shift: number, offset: number, fate: string, cost: number}} CandidateEnd
 * @typedef {{id: number, xy: number[]}} PredictedWay x and y in turn, a second apart, from where the object is
 * @typedef {{from: number, to: number, text: string}} Span
 * @typedef {{piece: number, first: number, rows: number[]}} Track a row of `track.*` that tells what it is, the number of
 *   the first message that has it, and its rows of `object.*`
 * @typedef {{scalars: Record<string, any>, lists: Record<string, [number, any][]>}} HeaderPatch
 * @typedef {{number: number, taken: boolean, x: number, y: number, heading: number, length: number,
 *   width: number}} SeenSlot
 */

/** How long what was sent once is shown, s. */
const LASTS_S = 1.2;

export class Recording {
  /**
   * @param {Columns} columns
   * @param {string} name one letter, by which two runs are told apart
   */
  constructor(columns, name) {
    this.columns = columns;
    this.header = columns.header;
    this.name = name;
    /** @type {Track[]} */
    this.tracks = [];
    /** @type {Map<string, Track>} the last track of everything that was seen, by what it is */
    this.lastTracks = new Map();
    this.planStarts = starts([]);
    this.weighedStarts = starts([]);
    this.predictedStarts = starts([]);
    /** @type {Map<number, number[]>} */
    this.lightRows = new Map();
    /** @type {Map<number, number[]>} */
    this.slotRows = new Map();
    this.pieces = 0;
    this.objectRows = 0;
    this.index();
  }

  /** A drive that goes on, with its first patches. @param {Columns} columns @returns {Recording} */
  static opened(columns) {
    const parts = columns.header.parts;
    Object.assign(columns.header, emptyHeader());
    for (const part of parts) {
      patch(columns.header, part);
    }
    return new Recording(columns, "A");
  }

  /** The patches of a drive that goes on. @param {Columns} more */
  append(more) {
    this.columns.append(more);
    for (const part of more.header.parts) {
      patch(this.header, part);
    }
    this.index();
  }

  /** What is found by number; tracks are only gone on with. */
  index() {
    const { columns } = this;
    /** @type {number} */
    this.begin = this.header.begin;
    /** @type {number} */
    this.end = this.header.end;
    /** @type {StateChange[]} */
    this.changes = this.header.changes;
    /** @type {Standstill[]} */
    this.stops = this.header.stops;
    /** @type {Infraction[]} */
    this.infractions = this.header.result?.infractions ?? [];
    this.indexTracks();
    this.planStarts = starts(columns.get("plan.n"));
    this.weighedStarts = starts(columns.get("weighed.n"));
    this.predictedStarts = this.header.predicted_points ? starts(columns.get("predicted.n")) : starts([]);
    this.lightRows = rowsBy(columns.get("light.signal"));
    this.slotRows = rowsBy(columns.get("slot.number"));
  }

  /** A track that was told in pieces is one. */
  indexTracks() {
    const [first, count] = [this.columns.get("track.first"), this.columns.get("track.n")];
    const identity = ["id", "kind", "length", "width", "rain", "nth"].map((name) => this.columns.get(`track.${name}`));
    for (; this.pieces < first.length; this.pieces += 1) {
      const key = identity.map((values) => values[this.pieces]).join(" ");
      let track = this.lastTracks.get(key);
      if (!track || track.first + track.rows.length !== first[this.pieces]) {
        track = { piece: this.pieces, first: first[this.pieces], rows: [] };
        this.tracks.push(track);
        this.lastTracks.set(key, track);
      }
      for (let i = 0; i < count[this.pieces]; i += 1) {
        track.rows.push(this.objectRows);
        this.objectRows += 1;
      }
    }
  }

  /** @param {number} number @returns {string} */
  text(number) {
    return this.header.texts[number] ?? "";
  }

  /** @param {number} t @returns {EgoState} between two samples as on a straight line */
  egoAt(t) {
    return egoAt(this.columns, t);
  }

  /** @param {number} t @returns {number} at the front wheels, rad, + to the left */
  steerAt(t) {
    const i = lastUpTo(this.columns.get("plan.t"), t);
    return i < 0 ? 0 : this.columns.get("plan.steer")[i];
  }

  /** @param {number} t @returns {{begin: number, end: number} | null} rows of `plan.x`, `plan.y`, `plan.v` */
  planAt(t) {
    const times = this.columns.get("plan.t");
    const i = lastUpTo(times, t);
    return i < 0 || t - times[i] > LASTS_S ? null : { begin: this.planStarts[i], end: this.planStarts[i + 1] };
  }

  /** @param {number} t @returns {SeenObject[]} */
  objectsAt(t) {
    const frames = this.columns.get("objects.t");
    const frame = lastUpTo(frames, t);
    if (frame < 0 || t - frames[frame] > LASTS_S) {
      return [];
    }
    const next = Math.min(frame + 1, frames.length - 1);
    const share = next > frame ? (t - frames[frame]) / (frames[next] - frames[frame]) : 0;
    const found = [];
    for (const { piece, first, rows } of this.tracks) {
      const row = rows[frame - first];
      if (row !== undefined) {
        found.push(this.object(piece, row, rows[frame - first + 1] ?? row, share));
      }
    }
    return found;
  }

  /** @param {number} piece @param {number} row @param {number} next @param {number} share @returns {SeenObject} */
  object(piece, row, next, share) {
    const of = (/** @type {string} */ name) => this.columns.get(name)[piece];
    const mix = (/** @type {string} */ name) => {
      const values = this.columns.get(name);
      return values[row] + share * (values[next] - values[row]);
    };
    const headings = this.columns.get("object.heading");
    const turn = Math.atan2(Math.sin(headings[next] - headings[row]), Math.cos(headings[next] - headings[row]));
    return {
      id: of("track.id"),
      kind: this.header.kinds[of("track.kind")] ?? "unknown",
      length: of("track.length"),
      width: of("track.width"),
      counts: of("track.rain") > 0,
      x: mix("object.x"),
      y: mix("object.y"),
      heading: headings[row] + share * turn,
      vx: mix("object.vx"),
      vy: mix("object.vy"),
    };
  }

  /** @param {number} t @returns {Map<number, string>} state by number of the signal */
  lightsAt(t) {
    const times = this.columns.get("light.t");
    const states = this.columns.get("light.state");
    const found = new Map();
    for (const [signal, rows] of this.lightRows) {
      const row = lastRow(rows, times, t);
      if (row >= 0) {
        found.set(signal, this.header.lights[states[row]] ?? "unknown");
      }
    }
    return found;
  }

  /** @param {number} t @returns {SeenSlot[]} */
  slotsAt(t) {
    const times = this.columns.get("slot.t");
    const found = [];
    for (const [number, rows] of this.slotRows) {
      const row = lastRow(rows, times, t);
      if (row >= 0) {
        const of = (/** @type {string} */ name) => this.columns.get(`slot.${name}`)[row];
        const taken = of("taken") > 0;
        found.push({ number, taken, x: of("x"), y: of("y"), heading: of("heading"), length: of("length"), width: of("width") });
      }
    }
    return found;
  }

  /** @param {string} name @param {number} t @returns {MarkerSpan[]} walls or targets */
  spansAt(name, t) {
    return this.header.spans.filter(
      (/** @type {MarkerSpan} */ span) => span.name === name && span.from <= t && t <= span.to + 1e-6,
    );
  }

  /** @param {string} name `route` or `blocked` @param {number} t @returns {number[]} x and y in turn, or none */
  routeAt(name, t) {
    const lines = this.header.routes.filter((/** @type {RouteLine} */ line) => line.name === name && line.t <= t);
    return lines.length ? lines[lines.length - 1].xy : [];
  }

  /** @param {number} t @returns {number} row of `why.*`, or -1 */
  whyRow(t) {
    return lastUpTo(this.columns.get("why.t"), t);
  }

  /** @param {number} t @returns {WhyMoment | null} */
  whyAt(t) {
    const row = this.whyRow(t);
    if (row < 0) {
      return null;
    }
    const of = (/** @type {string} */ name) => this.columns.get(`why.${name}`)[row];
    return {
      t: of("t"),
      code: this.text(of("code")),
      words: this.text(of("words")),
      level: of("level"),
      distance: of("distance"),
      blocker: of("blocker"),
      held: of("held"),
      inState: of("in_state"),
      next: this.text(of("next")),
      timeoutLeft: of("timeout_left"),
    };
  }

  /** @param {number} row of `why.*` @returns {DwellTimer[]} those that run */
  dwells(row) {
    return this.rowsOf("dwell", row).map((i) => {
      const of = (/** @type {string} */ name) => this.columns.get(`dwell.${name}`)[i];
      return {
        dest: this.text(of("dest")),
        guard: this.text(of("guard")),
        clause: this.text(of("clause")),
        held: of("held"),
        of: of("of"),
      };
    });
  }

  /** @param {number} row of `why.*` @returns {string[]} what else was said */
  also(row) {
    return this.rowsOf("also", row).map((i) => this.text(this.columns.get("also.line")[i]));
  }

  /** @param {string} table @param {number} row @returns {number[]} */
  rowsOf(table, row) {
    const owners = this.columns.get(`${table}.why`);
    const found = [];
    for (let i = lastUpTo(owners, row); i >= 0 && owners[i] === row; i -= 1) {
      found.unshift(i);
    }
    return found;
  }

  /** @param {number} t @returns {CandidateEnd[]} of the last moment that was told, if it was just now */
  candidatesAt(t) {
    const times = this.columns.get("weighed.t");
    const moment = lastUpTo(times, t);
    if (moment < 0 || t - times[moment] > LASTS_S) {
      return [];
    }
    const found = [];
    for (let i = this.weighedStarts[moment]; i < this.weighedStarts[moment + 1]; i += 1) {
      const of = (/** @type {string} */ name) => this.columns.get(`candidate.${name}`)[i];
      found.push({
        x: of("x"),
        y: of("y"),
        shift: of("shift"),
        offset: of("offset"),
        fate: this.text(of("fate")),
        cost: of("cost"),
      });
    }
    return found;
  }

  /** @param {number} t @returns {PredictedWay[]} up to three for an object that has a choice */
  predictionsAt(t) {
    const points = this.header.predicted_points;
    const moment = points ? lastUpTo(this.columns.get("predicted.t"), t) : -1;
    if (moment < 0 || t - this.columns.get("predicted.t")[moment] > LASTS_S) {
      return [];
    }
    const [x, y] = [this.columns.get("predicted.x"), this.columns.get("predicted.y")];
    const found = [];
    for (let way = this.predictedStarts[moment]; way < this.predictedStarts[moment + 1]; way += 1) {
      const xy = Array.from({ length: 2 * points }, (_, k) => (k % 2 ? y : x)[way * points + (k >> 1)]);
      found.push({ id: this.columns.get("predicted.id")[way], xy });
    }
    return found;
  }

  /** @param {string} topic `state`, `sensors` or `indicators` @param {number} t @returns {string} */
  wordAt(topic, t) {
    let word = "";
    for (const [since, said] of this.header.words[topic] ?? []) {
      if (since > t) {
        break;
      }
      word = said;
    }
    return word;
  }

  /** @param {string} topic @returns {Span[]} */
  wordSpans(topic) {
    return spansOf(this.header.words[topic] ?? [], this.end);
  }

  /** @returns {[string, Span[]][]} by name of the supervisor */
  supervisorSpans() {
    const all = /** @type {Record<string, [number, string][]>} */ (this.header.supervisors);
    return Object.entries(all).map(([name, changes]) => [name, spansOf(changes, this.end)]);
  }

  /** @returns {Span[]} by code of what limits the car */
  limitSpans() {
    const times = this.columns.get("why.t");
    const codes = this.columns.get("why.code");
    /** @type {[number, string][]} */
    const changes = [];
    for (let i = 0; i < times.length; i += 1) {
      if (i === 0 || codes[i] !== codes[i - 1]) {
        changes.push([times[i], this.text(codes[i])]);
      }
    }
    return spansOf(changes, this.end);
  }

  /** @param {number} t @returns {Standstill | undefined} */
  stopAt(t) {
    return this.stops.find((stop) => stop.from <= t && t <= stop.to);
  }

  /** @param {number} t @returns {StateChange | undefined} the last one of the machine itself */
  changeAt(t) {
    return this.changes.filter((change) => !change.supervisor && change.t <= t + 1e-6).pop();
  }
}

/** What a header has before anything is known. @returns {Record<string, any>} */
function emptyHeader() {
  const lists = { changes: [], stops: [], spans: [], routes: [], texts: [] };
  return { ...lists, words: {}, supervisors: {}, begin: 0, end: 0, predicted_points: 0 };
}

/**
 * @param {Record<string, any>} header
 * @param {HeaderPatch} news values to be set, and entries of lists by their number; `words.state` is a list in a table
 */
export function patch(header, { scalars, lists }) {
  Object.assign(header, scalars);
  for (const [path, entries] of Object.entries(lists)) {
    const [name, key] = path.split(".");
    const list = key === undefined ? header[name] : (header[name][key] ??= []);
    for (const [number, entry] of entries) {
      list[number] = entry;
    }
  }
}

/**
 * @param {Columns} columns with the car as `ego.*`
 * @param {number} t
 * @returns {EgoState} between two samples as on a straight line
 */
export function egoAt(columns, t) {
  const times = columns.get("ego.t");
  const i = Math.max(0, lastUpTo(times, t));
  const j = Math.min(i + 1, times.length - 1);
  const share = times[j] > times[i] ? Math.min(Math.max((t - times[i]) / (times[j] - times[i]), 0), 1) : 0;
  const mix = (/** @type {string} */ name) => {
    const values = columns.get(name);
    return values[i] + share * (values[j] - values[i]);
  };
  return { x: mix("ego.x"), y: mix("ego.y"), heading: mix("ego.heading"), v: mix("ego.v") };
}

/**
 * @param {[number, string][]} changes since when which word holds
 * @param {number} end
 * @returns {Span[]}
 */
function spansOf(changes, end) {
  return changes.map(([from, text], i) => ({ from, to: i + 1 < changes.length ? changes[i + 1][0] : end, text }));
}

/**
 * @param {Float64Array} keys
 * @returns {Map<number, number[]>} rows by key, in their order
 */
function rowsBy(keys) {
  /** @type {Map<number, number[]>} */
  const found = new Map();
  keys.forEach((key, row) => {
    const rows = found.get(key);
    if (rows) {
      rows.push(row);
    } else {
      found.set(key, [row]);
    }
  });
  return found;
}

/** @param {number[]} rows @param {Float64Array} times @param {number} t @returns {number} the last row up to t, or -1 */
function lastRow(rows, times, t) {
  const i = lastUpTo(rows.map((row) => times[row]), t);
  return i < 0 ? -1 : rows[i];
}
