/** The machine that one plays with: guards that are set, ticks that are made, and the way back. */

import { Behaviour } from "#machine/behaviour.js";
import { rowKey } from "#machine/tables.js";

/**
 * @typedef {import("#machine/words.js").Transition} Transition
 * @typedef {import("#machine/words.js").Moment} Moment
 * @typedef {import("#machine/behaviour.js").TickResult} TickResult
 * @typedef {{ticks: number, records: import("#machine/behaviour.js").StateRecord[], result: TickResult | null,
 *   made: number}} Before
 */

/** Ticks that can be taken back: five minutes. */
const MOST_BACK = 6000;

export class Session {
  /** @param {import("#machine/tables.js").TablesData} data */
  constructor(data) {
    this.data = data;
    /** Guards that hold. @type {Set<string>} */
    this.holding = new Set();
    /** Those of them that are false again after the next tick. @type {Set<string>} */
    this.once = new Set();
    this.behaviour = new Behaviour(data);
    this.ticks = 0;
    /** @type {Transition[]} */
    this.made = [];
    /** @type {TickResult | null} */
    this.result = null;
    /** @type {Before[]} */
    this.before = [];
  }

  reset() {
    Object.assign(this, new Session(this.data), { holding: this.holding, once: this.once });
    this.holding.clear();
    this.once.clear();
  }

  /** @returns {number} s, as a product: a sum of ticks would drift */
  get t() {
    return this.ticks * this.data.tickS;
  }

  /** @param {string} guard @param {boolean} holds @param {boolean} [once] for one tick only */
  set(guard, holds, once = false) {
    this.holding[holds ? "add" : "delete"](guard);
    this.once[holds && once ? "add" : "delete"](guard);
  }

  tick() {
    const { ticks, result, made } = this;
    this.before.push({ ticks, result, records: this.behaviour.records, made: made.length });
    this.before.splice(0, this.before.length - MOST_BACK);
    this.ticks += 1;
    this.result = this.behaviour.tick(this.t, this.holding);
    for (const [machine, step] of this.result.steps) {
      if (step.fired) {
        this.made.push(transitionOf(this.t, machine, step, step.fired));
      }
    }
    for (const guard of this.once) {
      this.set(guard, false);
    }
  }

  /** Take back the latest tick; guards stay as they are set. */
  back() {
    const before = this.before.pop();
    if (before) {
      this.ticks = before.ticks;
      this.result = before.result;
      this.made.length = before.made;
      this.behaviour.restore(before.records);
    }
  }

  /** @param {string} machine @param {string} path of the leaf to go on in */
  put(machine, path) {
    this.behaviour.engines.find(({ table }) => table.name === machine)?.put(path);
    this.result = null;
  }

  /** @returns {Moment} */
  get moment() {
    const { result, behaviour } = this;
    const machines = new Map(
      behaviour.engines.map((engine) => {
        const { path, clock, enteredAt } = engine.record;
        const last = this.made.filter(({ machine }) => machine === engine.table.name).slice(-1)[0] ?? null;
        return [engine.table.name, { path, inStateS: clock - enteredAt, sinceT: last?.t ?? 0, timers: timersOf(engine), last }];
      }),
    );
    return { t: this.t, frozen: behaviour.frozen, jump: result?.jump ?? 0, machines };
  }
}

/** @param {import("#machine/engine.js").Engine} engine @returns {import("#machine/words.js").Timer[]} those that run */
function timersOf(engine) {
  const { trueSince } = engine.record;
  return engine.rows.flatMap((row) => {
    const since = trueSince.get(rowKey(row));
    return since === undefined ? [] : [engine.timer(row, since)];
  });
}

/**
 * @param {number} t
 * @param {string} machine
 * @param {import("#machine/engine.js").StepResult} step
 * @param {import("#machine/tables.js").RowData} row
 * @returns {Transition}
 */
function transitionOf(t, machine, { source, dest, rejected }, row) {
  const { guard, clause, dwellS } = row;
  return { t, machine, source, dest, guard, clause, dwellS, rejected: rejected.map((other) => `${other.guard} (${other.dest}, ${other.clause})`) };
}
