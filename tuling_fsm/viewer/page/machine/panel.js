/** Beside the chart: where the machines are, why, and the rows that could fire, each with the switch of its guard. */

import { clockText } from "#film/clock.js";
import { button, element } from "#film/dom.js";
import { stateColour } from "#film/palette.js";
import { secondsText, share, timerWords } from "#machine/words.js";

/**
 * @typedef {import("#machine/tables.js").MachineTable} MachineTable
 * @typedef {import("#machine/tables.js").RowData} RowData
 * @typedef {import("#machine/words.js").Timer} Timer
 * @typedef {import("#machine/words.js").Transition} Transition
 * @typedef {{holds: (guard: string) => boolean, once: (guard: string) => boolean,
 *   set: (guard: string, holds: boolean, once: boolean) => void, fixed: boolean}} Switches `fixed` ones only tell
 * @typedef {{bar: HTMLElement, said: HTMLElement, line: HTMLElement, box: HTMLInputElement, pulse: HTMLButtonElement, row: RowData}} DrawnRow
 */

/** @param {string} machine @param {string} path @returns {HTMLElement} the name of a state in its composite's colour */
export function stateChip(machine, path) {
  const [first, ...rest] = path.split("/");
  const made = element("span", "where");
  const chip = element("span", "chip", rest.length ? first : machine);
  chip.style.background = stateColour(rest.length ? first : machine);
  made.append(chip, element("strong", "", rest.length ? rest.join("/") : first));
  return made;
}

/** @param {string} guard @param {string} words @param {Switches} switches @returns {{label: HTMLElement, box: HTMLInputElement, pulse: HTMLButtonElement}} */
export function guardSwitch(guard, words, switches) {
  const label = element("label", "guard");
  const box = /** @type {HTMLInputElement} */ (element("input", "switch"));
  box.type = "checkbox";
  box.setAttribute("role", "switch");
  box.dataset["guard"] = guard;
  box.disabled = switches.fixed;
  box.addEventListener("change", () => switches.set(guard, box.checked, false));
  // With the focus on it the space bar is the switch's; after a click of the mouse it is the page's again.
  box.addEventListener("keydown", (event) => event.key === " " && event.stopPropagation());
  box.addEventListener("click", (event) => event.detail > 0 && box.blur());
  label.append(box, element("code", "", guard));
  label.title = words;
  const pulse = button("1 tick", () => switches.set(guard, true, true), "pulse");
  pulse.title = `${guard} holds on the next tick only`;
  pulse.hidden = switches.fixed;
  return { label, box, pulse };
}

/** The rows of one state, in the order in which they win. */
export class RowList {
  /** @param {HTMLElement} place @param {Switches} switches @param {Record<string, string>} words of guards */
  constructor(place, switches, words) {
    this.place = place;
    this.switches = switches;
    this.words = words;
    this.shown = "";
    /** @type {DrawnRow[]} */
    this.rows = [];
  }

  /** @param {MachineTable} table @param {string} path of the leaf @param {Timer[]} timers @param {Transition | null} fired just now */
  show(table, path, timers, fired) {
    const key = `${table.name} ${path} ${this.switches.fixed}`;
    if (key !== this.shown) {
      this.shown = key;
      this.rows = (table.rowsFrom.get(path) ?? []).map((row, i) => this.row(row, i + 1));
      const none = table.state(path).enabled === false ? "Declared, and never entered." : "No row leaves it.";
      this.place.replaceChildren(...(this.rows.length ? this.rows.map(({ line }) => line) : [element("p", "quiet", none)]));
    }
    for (const drawn of this.rows) {
      this.update(drawn, timers.find(({ row }) => row === drawn.row) ?? null, fired);
    }
  }

  /** @param {RowData} row @param {number} number @returns {DrawnRow} */
  row(row, number) {
    const line = element("div", "row");
    line.dataset["guard"] = row.guard;
    const { label, box, pulse } = guardSwitch(row.guard, this.words[row.guard] ?? "", this.switches);
    const to = element("div", "to");
    to.append(element("span", "arrow-to", "→"), element("span", "", row.dest), element("small", "", `${row.priority} · ${row.clause}${row.deadline ? " · deadline" : ""}`));
    const bar = element("div", "fill");
    const track = element("div", "bar");
    track.append(bar);
    const said = element("small", "said");
    line.append(element("span", "number", String(number)), label, pulse, to, element("p", "words", this.words[row.guard] ?? ""), track, said);
    return { line, bar, said, box, pulse, row };
  }

  /** @param {DrawnRow} drawn @param {Timer | null} timer @param {Transition | null} fired */
  update({ line, bar, said, box, pulse, row }, timer, fired) {
    box.checked = this.switches.fixed ? timer !== null : this.switches.holds(row.guard);
    pulse.setAttribute("aria-pressed", String(this.switches.once(row.guard)));
    bar.style.width = `${100 * (timer ? share(timer) : 0)}%`;
    line.classList.toggle("holding", timer !== null);
    line.classList.toggle("fired", fired !== null && fired.guard === row.guard && fired.clause === row.clause);
    const wait = row.dwellS > 0 ? `has to hold for ${secondsText(row.dwellS)}` : "fires on the tick on which it holds";
    const next = box.checked && !this.switches.fixed ? `${wait}, from the next tick on` : wait;
    said.textContent = timer ? timerWords(timer) : next;
  }
}

/** Every transition: of a run by time, and a click leads there; of what one plays the latest first. */
export class TransitionLog {
  /** @param {HTMLElement} place @param {((t: number) => void) | null} seek */
  constructor(place, seek) {
    this.place = place;
    this.seek = seek;
    this.shown = "";
  }

  /** @param {Transition[]} transitions @param {number} t the moment that is shown @param {string} hierarchy its name */
  show(transitions, t, hierarchy) {
    const key = `${transitions.length} ${transitions[transitions.length - 1]?.t} ${transitions[0]?.t}`;
    if (key !== this.shown) {
      this.shown = key;
      const lines = transitions.map((each) => this.line(each, hierarchy));
      if (!this.seek) {
        lines.reverse();
      }
      this.place.replaceChildren(...(lines.length ? lines : [element("p", "quiet", "none yet")]));
    }
    const latest = Math.max(...transitions.map((each) => each.t).filter((made) => made <= t + 1e-3));
    for (const line of /** @type {NodeListOf<HTMLElement>} */ (this.place.querySelectorAll(".made"))) {
      const now = Number(line.dataset["t"]) === latest;
      if (now && !line.classList.contains("now")) {
        this.place.scrollTop = line.offsetTop - this.place.clientHeight / 2;
      }
      line.classList.toggle("now", now);
    }
  }

  /** @param {Transition} made @param {string} hierarchy @returns {HTMLElement} */
  line(made, hierarchy) {
    const { t, machine, source, dest, guard, clause, rejected } = made;
    const line = this.seek ? button("", () => this.seek?.(t), "made") : element("div", "made");
    Object.assign(line.dataset, { t: String(t), machine, from: source, to: dest, guard, clause });
    const dot = element("i");
    dot.style.background = stateColour(machine === hierarchy ? dest : machine);
    const name = machine === hierarchy ? `${source} → ${dest}` : `${machine}: ${source} → ${dest}`;
    line.append(dot, element("time", "", clockText(t)), element("span", "", name), element("small", "", [guard, clause].filter(Boolean).join(" · ")));
    if (rejected.length) {
      line.append(element("small", "lost", `ripe too: ${rejected.join(", ")}`));
    }
    return line;
  }
}
