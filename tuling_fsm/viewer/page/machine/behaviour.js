/** The machine with its supervisors, ticked in the order of `tuling_fsm/behaviour/behaviour.py`. */

import { Engine } from "#machine/engine.js";
import { MachineTable } from "#machine/tables.js";

/**
 * @typedef {import("#machine/engine.js").StateRecord} StateRecord
 * @typedef {import("#machine/engine.js").StepResult} StepResult
 * @typedef {{stamp: number, frozen: boolean, jump: number, steps: Map<string, StepResult>}} TickResult
 *   what came of a tick; a machine that was not stepped has no entry in `steps`
 */

export class Behaviour {
  /** @param {import("#machine/tables.js").TablesData} data */
  constructor(data) {
    this.stopped = new Set(data.stopped);
    this.engines = data.machines.map((each) => new Engine(new MachineTable(each), data));
    const [machine, stop, rain, refresh] = this.engines;
    this.machine = machine;
    this.stop = stop;
    this.rain = rain;
    this.refresh = refresh;
  }

  /** @returns {boolean} whether the emergency stop keeps everything else as it is (EST-1) */
  get frozen() {
    return this.stopped.has(this.stop.record.path);
  }

  /** @returns {StateRecord[]} all that it is; records are never changed, only replaced */
  get records() {
    return this.engines.map(({ record }) => record);
  }

  /** @param {StateRecord[]} records of this very behaviour */
  restore(records) {
    this.engines.forEach((engine, i) => (engine.record = records[i]));
  }

  /** @param {number} stamp s @param {ReadonlySet<string>} holding guards that hold @returns {TickResult} */
  tick(stamp, holding) {
    this.stop.advance(stamp);
    /** @type {Map<string, StepResult>} */
    const steps = new Map([[this.stop.table.name, this.stop.step(holding)]]);
    if (this.frozen) {
      const jumps = [this.rain, this.machine, this.refresh].map((engine) => engine.freeze(stamp));
      return { stamp, frozen: true, jump: jumps[1], steps };
    }
    this.rain.advance(stamp);
    steps.set(this.rain.table.name, this.rain.step(holding));
    const jump = this.machine.advance(stamp);
    this.refresh.advance(stamp);
    if (!this.asksItself) {
      steps.set(this.refresh.table.name, this.refresh.step(holding));
    }
    steps.set(this.machine.table.name, this.machine.step(holding));
    return { stamp, frozen: false, jump, steps };
  }

  /** @returns {boolean} whether no regular question is asked, as the state has one of its own (RRF-1) */
  get asksItself() {
    const state = this.machine.table.state(this.machine.record.path);
    const idle = this.refresh.record.path === this.refresh.table.resolve(this.refresh.table.initial);
    return Boolean(state.asksItself) && idle;
  }
}
