/** The page: chart, panel and transport over what one plays, or over a run that was recorded. */

import { Clock, clockText } from "#film/clock.js";
import { inflate } from "#film/columns.js";
import { button, draw, element, part, themeButton } from "#film/dom.js";
import { listenToKeys } from "#film/keys.js";
import { Chart } from "#machine/chart.js";
import { guardSwitch, RowList, stateChip, TransitionLog } from "#machine/panel.js";
import { RecordedRun } from "#machine/recorded.js";
import { Session } from "#machine/session.js";
import { headlineWords, secondsText } from "#machine/words.js";

/** @typedef {import("#machine/words.js").Moment} Moment @typedef {import("#machine/chart.js").Looked} Looked */

/** Ticks at most from one picture to the next: a page that was hidden does not catch up. */
const MOST_TICKS = 100;
const SAME_TICK_S = 0.026;
const LINK_PERIOD_MS = 400;

class Page {
  /** @param {import("#machine/tables.js").TablesData} tables @param {RecordedRun | null} run */
  constructor(tables, run) {
    this.tables = tables;
    this.session = new Session(tables);
    this.run = run;
    this.recorded = run !== null;
    this.played = new Clock(0, Infinity);
    this.replayed = new Clock(run?.data.begin ?? 0, run?.data.end ?? 0);
    /** @type {Looked} */
    this.looked = null;
    this.machines = this.session.behaviour.engines.map(({ table }) => table);
    this.chart = new Chart(part("chart"), this.machines, (machine, path) => this.look(machine, path));
    this.linkedAt = 0;
    this.changed = true;
    this.sections();
    this.lists = this.machines.map((table) => new RowList(part(`rows-${table.name}`), this.switches(), tables.guards));
    this.log = new TransitionLog(part("log"), null);
    this.runLog = new TransitionLog(part("log-run"), (t) => this.seek(t));
  }

  /** A place for the rows of each machine; those of the supervisors stand below each other. */
  sections() {
    const [hierarchy, ...beside] = this.machines;
    const rowsOf = (/** @type {string} */ name) => Object.assign(element("div", "rows"), { id: `rows-${name}` });
    part("hierarchy").append(rowsOf(hierarchy.name));
    for (const { name } of beside) {
      const section = element("section", "supervisor");
      section.append(Object.assign(element("div", "now"), { id: `now-${name}` }), rowsOf(name));
      part("supervisors").append(section);
    }
  }

  /** @returns {import("#machine/panel.js").Switches} */
  switches() {
    const page = this;
    return {
      holds: (guard) => this.session.holding.has(guard),
      once: (guard) => this.session.once.has(guard),
      set: (guard, holds, once) => this.set(guard, holds, once),
      get fixed() {
        return page.recorded;
      },
    };
  }

  start() {
    const { machines } = this;
    const rows = machines.reduce((sum, table) => sum + table.rows.length, 0);
    const states = machines.reduce((sum, table) => sum + table.leaves.length, 0);
    part("facts").replaceChildren(
      ...[`${states} states`, `${rows} rows`, `${Object.keys(this.tables.guards).length} guards`, `a tick of ${secondsText(this.tables.tickS)}`]
        .map((text) => element("span", "fact", text)),
    ); // prettier-ignore
    this.listGuards();
    this.controls();
    themeButton(() => (this.changed = true));
    for (const clock of [this.played, this.replayed]) {
      clock.onChange(() => (this.changed = true));
    }
    this.show(this.recorded);
    this.goToLink();
    window.addEventListener("hashchange", () => this.goToLink());
    new ResizeObserver(() => (this.changed = this.chart.resize() || this.changed)).observe(part("chart"));
    requestAnimationFrame((now) => this.frame(now));
  }

  listGuards() {
    const names = Object.keys(this.tables.guards).sort();
    part("guards").replaceChildren(
      ...names.map((guard) => {
        const line = element("div", "guard-line");
        const { label, pulse } = guardSwitch(guard, this.tables.guards[guard], this.switches());
        line.append(label, pulse);
        return line;
      }),
    );
  }

  controls() {
    const bind = (/** @type {string} */ id, /** @type {() => void} */ act) => part(id).addEventListener("click", act);
    bind("play", () => this.toggle(this.clock.speed));
    for (const speed of [1, 5]) {
      bind(`speed-${speed}`, () => this.toggle(speed));
    }
    bind("tick", () => this.step(1));
    bind("second", () => this.step(20));
    bind("back", () => this.back());
    bind("reset", () => this.reset());
    bind("none", () => this.clearGuards());
    bind("before", () => this.jump(-1));
    bind("after", () => this.jump(1));
    bind("mode-play", () => this.show(false));
    bind("mode-run", () => this.show(true));
    bind("fork", () => this.fork());
    const slider = /** @type {HTMLInputElement} */ (part("slider"));
    Object.assign(slider, { min: this.replayed.begin, max: this.replayed.end, step: "any", value: this.replayed.t });
    slider.addEventListener("input", () => this.seek(slider.valueAsNumber));
    const bindings = this.keys();
    listenToKeys(bindings);
    part("help").append(...bindings.flatMap(({ shown, says }) => [element("kbd", "", shown), ` ${says}  `]));
    this.marks();
  }

  /** @returns {import("#film/keys.js").KeyBinding[]} */
  keys() {
    return [
      { keys: [" "], shown: "space", says: "run, pause", act: () => this.toggle(this.clock.speed) },
      { keys: ["ArrowRight", "t"], shown: "→", says: "a tick (Shift: 1 s)", act: (event) => this.step(event.shiftKey ? 20 : 1) },
      { keys: ["ArrowLeft"], shown: "←", says: "back (Shift: 1 s)", act: (event) => this.back(event.shiftKey ? 20 : 1) },
      { keys: ["n"], shown: "n", says: "next transition", act: () => this.jump(1) },
      { keys: ["p"], shown: "p", says: "transition before", act: () => this.jump(-1) },
      { keys: ["1"], shown: "1", says: "at 1×", act: () => this.toggle(1, true) },
      { keys: ["5"], shown: "5", says: "at 5×", act: () => this.toggle(5, true) },
      { keys: ["e"], shown: "e", says: "emergency stop", act: () => this.emergency() },
      { keys: ["c"], shown: "c", says: "clear all guards", act: () => this.clearGuards() },
      { keys: ["r"], shown: "r", says: "reset", act: () => this.reset() },
      { keys: ["Escape"], shown: "Esc", says: "back to the state that is active", act: () => this.lookAway() },
    ];
  }

  /** A stroke over the slider for every transition that is stepped to. */
  marks() {
    const { begin, end } = this.replayed;
    const strip = draw("svg", { viewBox: "0 0 1000 10", preserveAspectRatio: "none", "aria-hidden": "true" });
    for (const { t } of this.run?.stops ?? []) {
      const x = (1000 * (t - begin)) / Math.max(end - begin, 1e-3);
      strip.append(draw("path", { d: `M${x},0 v10` }));
    }
    part("run-marks").replaceChildren(strip);
  }

  /** @returns {Clock} of what is shown */
  get clock() {
    return this.recorded ? this.replayed : this.played;
  }

  /** @returns {Moment} */
  get moment() {
    return this.recorded && this.run ? this.run.momentAt(this.replayed.t) : this.session.moment;
  }

  /** @param {boolean} recorded whether the run is shown, or what one plays */
  show(recorded) {
    this.clock.play(false);
    this.recorded = recorded && this.run !== null;
    document.documentElement.dataset["mode"] = this.recorded ? "run" : "play";
    part("mode").hidden = this.run === null;
    part("mode-play").setAttribute("aria-pressed", String(!this.recorded));
    part("mode-run").setAttribute("aria-pressed", String(this.recorded));
    part("title").textContent = this.recorded && this.run ? `State machine: ${this.run.data.title}` : "State machine";
    this.lookAway();
  }

  /** @param {string} guard @param {boolean} holds @param {boolean} once */
  set(guard, holds, once) {
    this.session.set(guard, holds, once);
    this.changed = true;
  }

  /** The remote says stop, or go and the operator clears it. */
  emergency() {
    const stopped = this.session.behaviour.frozen || this.session.holding.has("stop_commanded");
    this.set("stop_commanded", !stopped, false);
    this.set("stop_released", stopped, false);
  }

  clearGuards() {
    for (const guard of [...this.session.holding]) {
      this.set(guard, false, false);
    }
  }

  /** @param {number} speed @param {boolean} [on] */
  toggle(speed, on = false) {
    const { clock } = this;
    const stays = clock.playing && clock.speed === speed && !on;
    clock.speed = speed;
    this.played.t = this.session.t;
    clock.play(!stays);
  }

  /** @param {number} ticks */
  step(ticks) {
    if (this.recorded) {
      this.seek(this.replayed.t + ticks * this.tables.tickS);
      return;
    }
    for (let k = 0; k < ticks; k += 1) {
      this.session.tick();
    }
    this.played.t = this.session.t;
    this.changed = true;
  }

  /** @param {number} [ticks] */
  back(ticks = 1) {
    if (this.recorded) {
      this.step(-ticks);
      return;
    }
    for (let k = 0; k < ticks; k += 1) {
      this.session.back();
    }
    this.played.t = this.session.t;
    this.changed = true;
  }

  reset() {
    this.played.play(false);
    this.session.reset();
    this.played.t = 0;
    this.lookAway();
  }

  /** @param {number} t s, of the run */
  seek(t) {
    this.replayed.seek(t);
    this.lookAway();
  }

  /** To the next transition of the run, or on until one is made: for ten seconds at most. @param {number} steps */
  jump(steps) {
    if (this.recorded && this.run) {
      this.seek(this.run.stepFrom(this.replayed.t, steps));
      return;
    }
    const { made } = this.session;
    const count = made.length;
    if (steps < 0) {
      this.back(made.length ? this.session.ticks - Math.round(made[count - 1].t / this.tables.tickS) + 1 : 0);
    }
    for (let k = 0; steps > 0 && k < 200 && this.session.made.length === count; k += 1) {
      this.step(1);
    }
  }

  /** Play on from the moment of the run. */
  fork() {
    const { machines } = this.moment;
    this.session.reset();
    for (const [machine, { path }] of machines) {
      this.session.put(machine, path);
    }
    this.played.t = 0;
    this.show(false);
  }

  /** @param {string} machine @param {string} path */
  look(machine, path) {
    const active = this.moment.machines.get(machine)?.path === path;
    this.looked = active || (this.looked?.machine === machine && this.looked.path === path) ? null : { machine, path };
    this.changed = true;
  }

  lookAway() {
    this.looked = null;
    this.changed = true;
  }

  /** The moment of the address, as in `machine.html#t=143`. */
  goToLink() {
    const found = /[#&]t=([-\d.]+)/.exec(location.hash);
    if (found && this.run && Math.abs(Number(found[1]) - this.replayed.t) > 6e-4) {
      this.show(true);
      this.seek(Number(found[1]));
    }
  }

  /** @param {number} now ms of the browser's clock */
  link(now) {
    if (this.recorded && !this.clock.playing && now - this.linkedAt > LINK_PERIOD_MS) {
      this.linkedAt = now;
      const wanted = `#t=${Number(this.replayed.t.toFixed(3))}`;
      if (location.hash !== wanted) {
        history.replaceState(null, "", wanted);
      }
    }
  }

  /** @param {number} now ms of the browser's clock */
  frame(now) {
    this.clock.frame(now);
    if (!this.recorded && this.played.playing) {
      const due = Math.floor((this.played.t - this.session.t) / this.tables.tickS + 1e-6);
      for (let k = 0; k < Math.min(due, MOST_TICKS); k += 1) {
        this.session.tick();
      }
      this.played.t = due > MOST_TICKS ? this.session.t : this.played.t;
    }
    if (this.changed) {
      this.changed = false;
      this.draw();
    }
    this.link(now);
    requestAnimationFrame((next) => this.frame(next));
  }

  draw() {
    const { moment, looked, run } = this;
    this.chart.show(moment, looked);
    const [hierarchy, ...beside] = this.machines;
    const seen = /** @type {import("#machine/words.js").Seen} */ (moment.machines.get(hierarchy.name));
    const fired = (/** @type {import("#machine/words.js").Seen} */ each) => (each.last && Math.abs(moment.t - each.last.t) < SAME_TICK_S ? each.last : null);
    part("sentence").textContent = headlineWords(moment, seen, fired(seen) !== null);
    part("state").replaceChildren(stateChip(hierarchy.name, seen.path), element("small", "", seen.inStateS === null ? `since ${clockText(seen.sinceT)}` : `for ${secondsText(seen.inStateS)}`));
    part("does").textContent = hierarchy.state(seen.path).words ?? "";
    part("panel").classList.toggle("frozen", moment.frozen);
    this.drawLooked(looked);
    [hierarchy, ...beside].forEach((table, i) => {
      const each = moment.machines.get(table.name);
      const elsewhere = looked?.machine === table.name ? looked.path : null;
      if (each) {
        this.lists[i].show(table, elsewhere ?? each.path, elsewhere ? [] : each.timers, fired(each));
      }
    });
    beside.forEach((table) => part(`now-${table.name}`).replaceChildren(stateChip(table.name, moment.machines.get(table.name)?.path ?? "")));
    this.drawTransport(moment);
    this.log.show(this.session.made, moment.t, hierarchy.name);
    if (run) {
      this.runLog.show(run.data.transitions, moment.t, hierarchy.name);
      const limit = run.limitAt(moment.t);
      part("limit").textContent = limit ? `${limit.code}: ${limit.words}` : "nothing was said of it";
    }
  }

  /** @param {Looked} looked */
  drawLooked(looked) {
    const place = part("looked");
    place.hidden = looked === null;
    if (!looked) {
      return;
    }
    const { machine, path } = looked;
    const table = this.machines.find(({ name }) => name === machine);
    const enabled = table?.state(path).enabled;
    const words = element("span", "", `Rows of ${path}, which is not active.`);
    const here = button("put the machine here", () => {
      this.session.put(machine, path);
      this.lookAway();
    });
    here.hidden = this.recorded || !enabled;
    place.replaceChildren(words, here, button("back (Esc)", () => this.lookAway()));
  }

  /** @param {Moment} moment */
  drawTransport({ t }) {
    const { playing, speed } = this.clock;
    part("play").textContent = playing ? "❚❚" : "▶";
    part("play").setAttribute("aria-label", playing ? "pause" : "run");
    for (const each of [1, 5]) {
      part(`speed-${each}`).setAttribute("aria-pressed", String(playing && speed === each));
    }
    part("clock").textContent = this.recorded ? `${clockText(t)} / ${clockText(this.replayed.end)}` : secondsText(t);
    /** @type {HTMLInputElement} */ (part("slider")).value = String(this.replayed.t);
    for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (part("guards").querySelectorAll("input"))) {
      box.checked = this.session.holding.has(box.dataset["guard"] ?? "");
    }
    const count = this.session.holding.size;
    part("count").textContent = count ? `${count} ${count === 1 ? "holds" : "hold"}` : "none holds";
  }
}

async function open() {
  const tables = JSON.parse(part("tables").textContent ?? "");
  const packed = document.getElementById("run");
  const data = packed && JSON.parse(new TextDecoder().decode(await inflate(packed.textContent ?? "")));
  const page = new Page(tables, data ? new RecordedRun(data, tables) : null);
  page.start();
  // For tests, and for whoever wants to lead the page from the console.
  Object.assign(globalThis, { page });
  document.documentElement.dataset["ready"] = "true";
}

open().catch((error) => {
  part("sentence").textContent = `This page could not be opened: ${error}. It needs a browser of 2023 or later.`;
  throw error;
});
