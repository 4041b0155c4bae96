/** Runs one table as `tuling_fsm/machine/engine.py` does: at most one row a tick, each after its dwell (DWELL-1 to 5). */

import { ancestors, rowKey } from "#machine/tables.js";

/**
 * Where a machine stands. Times are on its active clock (s), which stands while it is frozen; only `stamp` is not.
 *
 * @typedef {{path: string, clock: number, stamp: number | null, enteredAt: number, trueSince: Map<string, number>}} StateRecord
 * @typedef {import("#machine/tables.js").RowData} RowData
 * @typedef {{row: RowData, heldS: number, remainingS: number}} Pending a row whose guard holds, but not for long enough
 * @typedef {{source: string, dest: string, fired: RowData | null, pending: Pending[], rejected: RowData[]}} StepResult
 */

export class Engine {
  /** @param {import("#machine/tables.js").MachineTable} table @param {{maxGapS: number, toleranceS: number}} timing */
  constructor(table, { maxGapS, toleranceS }) {
    this.table = table;
    this.maxGapS = maxGapS;
    this.toleranceS = toleranceS;
    /** @type {StateRecord} */
    this.record = { path: table.resolve(table.initial), clock: 0, stamp: null, enteredAt: 0, trueSince: new Map() };
  }

  /** @param {number} stamp of the tick, s @returns {number} a jump of time (s), 0 for none */
  advance(stamp) {
    const [step, jump] = this.interval(stamp);
    const { clock, trueSince } = this.record;
    const change = jump ? { trueSince: new Map() } : { clock: clock + step, trueSince };
    this.record = { ...this.record, ...change, stamp };
    return jump;
  }

  /** @param {number} stamp of a tick on which the machine stands still @returns {number} a jump as `advance` */
  freeze(stamp) {
    const [, jump] = this.interval(stamp);
    this.record = { ...this.record, stamp, trueSince: jump ? new Map() : this.record.trueSince };
    return jump;
  }

  /** @param {ReadonlySet<string>} holding the guards that hold @returns {StepResult} */
  step(holding) {
    const { path, clock, trueSince } = this.record;
    const rows = this.rows.filter((row) => holding.has(row.guard));
    /** @type {Map<string, number>} */
    const since = new Map(rows.map((row) => [rowKey(row), trueSince.get(rowKey(row)) ?? clock]));
    const timed = rows.map((row) => this.timer(row, /** @type {number} */ (since.get(rowKey(row)))));
    const matured = timed.filter(({ remainingS }) => remainingS <= this.toleranceS).map(({ row }) => row);
    const pending = timed.filter(({ remainingS }) => remainingS > this.toleranceS);
    const [fired = null, ...rejected] = matured;
    if (fired) {
      this.fire(fired, since);
    } else {
      this.record = { ...this.record, trueSince: since };
    }
    return { source: path, dest: this.record.path, fired, pending, rejected };
  }

  /** @param {string} path of the leaf to go on in, as if it had just been entered */
  put(path) {
    this.record = { ...this.record, path, enteredAt: this.record.clock, trueSince: new Map() };
  }

  /** @returns {RowData[]} those that can leave the active leaf, the first to win first */
  get rows() {
    return this.table.rowsFrom.get(this.record.path) ?? [];
  }

  /** @param {RowData} row @returns {number} how long the leaf is kept before this row may leave it (DWELL-2), s */
  minDwellS(row) {
    return row.safety ? 0 : (row.minDwellS ?? this.table.state(this.record.path).minDwellS ?? 0);
  }

  /** @param {RowData} row @param {number} start since when its guard has held @returns {Pending} */
  timer(row, start) {
    const { clock, enteredAt } = this.record;
    const remainingS = Math.max(start + row.dwellS, enteredAt + this.minDwellS(row)) - clock;
    return { row, heldS: clock - start, remainingS };
  }

  /** @param {number} stamp @returns {[number, number]} step and jump, s; one of them is 0 */
  interval(stamp) {
    if (this.record.stamp === null) {
      return [0, 0];
    }
    const step = stamp - this.record.stamp;
    return step >= 0 && step <= this.maxGapS + this.toleranceS ? [step, 0] : [0, step];
  }

  /** @param {RowData} row @param {Map<string, number>} since */
  fire(row, since) {
    const { path: old, clock } = this.record;
    const path = this.table.resolve(row.dest);
    // A timer outlives the transition where its source does: a composite around both leaves.
    const around = ancestors(old).filter((each) => ancestors(path).includes(each));
    const kept = this.rows.filter((other) => other !== row && around.includes(other.source)).map(rowKey);
    const trueSince = new Map([...since].filter(([key]) => kept.includes(key)));
    this.record = { ...this.record, path, enteredAt: clock, trueSince };
  }
}
