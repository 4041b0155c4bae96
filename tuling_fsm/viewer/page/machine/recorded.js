/** A run as `tuling_fsm/viewer/machine_run.py` has read it from a bag: its transitions, and what was said in between. */

/**
 * @typedef {import("#machine/words.js").Transition} Transition
 * @typedef {import("#machine/words.js").Moment} Moment
 * @typedef {{t: number, machine: string, dest: string, guard: string, heldS: number, dwellS: number}} DwellSample
 * @typedef {{t: number, code: string, words: string}} LimitSample
 * @typedef {{title: string, begin: number, end: number, initial: Record<string, string>, transitions: Transition[],
 *   dwells: DwellSample[], dwellPeriodS: number, limits: LimitSample[]}} RunData
 */

import { MachineTable } from "#machine/tables.js";

/** Clauses of what happens every few seconds: not stepped to. */
const ROUTINE = new Set(["RRF-1"]);
/** Stamps are told to the millisecond. */
const SAME_S = 6e-4;
/** A timer that was said to run so many periods ago does so no more. */
const FRESH_PERIODS = 1.5;

export class RecordedRun {
  /** @param {RunData} data @param {import("#machine/tables.js").TablesData} tables */
  constructor(data, tables) {
    this.data = data;
    this.stopped = new Set(tables.stopped);
    this.tables = tables.machines.map((each) => new MachineTable(each));
    this.stops = data.transitions.filter(({ clause }) => !ROUTINE.has(clause));
  }

  /** @param {string} machine @param {number} t @returns {Transition | null} the latest one up to a moment */
  lastOf(machine, t) {
    return this.data.transitions.filter((each) => each.machine === machine && each.t <= t + SAME_S).slice(-1)[0] ?? null;
  }

  /** @param {number} t s @param {number} steps forth or back @returns {number} when the transition there was made, s */
  stepFrom(t, steps) {
    const later = this.stops.find((each) => each.t > t + SAME_S);
    const earlier = this.stops.filter((each) => each.t < t - SAME_S).slice(-1)[0];
    return (steps > 0 ? later?.t : earlier?.t) ?? (steps > 0 ? this.data.end : this.data.begin);
  }

  /** @param {number} t @returns {LimitSample | null} what limited the car */
  limitAt(t) {
    return this.data.limits.filter((each) => each.t <= t + SAME_S).slice(-1)[0] ?? null;
  }

  /** @param {number} t s @returns {Moment} */
  momentAt(t) {
    const machines = new Map(
      this.tables.map((table) => {
        const last = this.lastOf(table.name, t);
        const path = last?.dest ?? this.data.initial[table.name] ?? table.resolve(table.initial);
        const sinceT = last?.t ?? this.data.begin;
        return [table.name, { path, inStateS: null, sinceT, last, timers: this.timersAt(table, path, t, sinceT) }];
      }),
    );
    const stop = machines.get("emergency_stop");
    return { t, frozen: this.stopped.has(stop?.path ?? ""), jump: 0, machines };
  }

  /**
   * @param {MachineTable} table
   * @param {string} path
   * @param {number} t
   * @param {number} since no earlier
   * @returns {import("#machine/words.js").Timer[]}
   */
  timersAt(table, path, t, since) {
    const from = Math.max(t - FRESH_PERIODS * this.data.dwellPeriodS, since);
    const near = this.data.dwells.filter((each) => each.machine === table.name && each.t > from && each.t <= t + SAME_S);
    const latest = near.slice(-1)[0]?.t;
    return near
      .filter((each) => each.t === latest)
      .flatMap((each) => {
        const row = (table.rowsFrom.get(path) ?? []).find(({ guard, dest }) => guard === each.guard && dest === each.dest);
        const kept = row && !row.safety ? (row.minDwellS ?? table.state(path).minDwellS ?? 0) - (t - since) : 0;
        return row ? [{ row, heldS: each.heldS, remainingS: Math.max(each.dwellS - each.heldS, kept, 0) }] : [];
      });
  }
}
