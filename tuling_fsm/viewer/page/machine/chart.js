/** The chart: every state nested as the hierarchy is, the rows of the state that is looked at, and their dwell timers. */

import { draw } from "#film/dom.js";
import { stateColour } from "#film/palette.js";
import { layoutOf, NARROW, WIDE } from "#machine/layout.js";
import { covers } from "#machine/tables.js";
import { share } from "#machine/words.js";

/**
 * @typedef {import("#machine/layout.js").Box} Box
 * @typedef {import("#machine/layout.js").Arrow} Arrow
 * @typedef {import("#machine/words.js").Moment} Moment
 * @typedef {import("#machine/words.js").Seen} Seen
 * @typedef {{arrow: Arrow, group: SVGElement, fill: SVGElement, badge: SVGElement}} DrawnArrow
 * @typedef {{arrow: Arrow, badge: SVGElement, numbers: number[]}} Badge the numbers of the rows that an arrow stands for
 * @typedef {{machine: string, path: string} | null} Looked at, instead of where the machine is
 */

/** Below this width (px) of the page the chart has two columns. */
const NARROW_PX = 700;
/** A transition is shown for so long, s. */
const FLASH_S = 0.6;

export class Chart {
  /**
   * @param {HTMLElement} place
   * @param {import("#machine/tables.js").MachineTable[]} tables
   * @param {(machine: string, path: string) => void} look what a click on a state does
   */
  constructor(place, tables, look) {
    this.place = place;
    this.tables = tables;
    this.look = look;
    /** @type {DrawnArrow[]} */
    this.arrows = [];
    /** @type {Map<string, SVGElement>} */
    this.leaves = new Map();
    this.narrow = place.clientWidth < NARROW_PX;
    /** Of the picture, in its own units. */
    this.width = 0;
    this.build();
  }

  /** Lay it out anew where there is more or less room now. @returns {boolean} whether it was */
  resize() {
    const narrow = this.place.clientWidth < NARROW_PX;
    if (narrow === this.narrow) {
      return false;
    }
    this.narrow = narrow;
    this.build();
    return true;
  }

  build() {
    const layout = layoutOf(this.tables, this.narrow ? NARROW : WIDE);
    this.width = layout.width;
    const picture = draw("svg", { viewBox: `0 0 ${layout.width} ${layout.height}`, role: "group", "aria-label": "all states" });
    picture.style.maxWidth = `${layout.width * 1.15}px`;
    picture.append(...layout.groups.map((box) => this.group(box)));
    const lines = draw("g", { class: "arrows" });
    this.arrows = layout.arrows.map(arrowOf);
    lines.append(...this.arrows.map(({ group }) => group));
    this.leaves = new Map(layout.leaves.map((box) => [`${box.machine} ${box.path}`, this.leaf(box)]));
    const badges = draw("g", { class: "badges" });
    badges.append(...this.arrows.map(({ badge }) => badge));
    picture.append(lines, ...this.leaves.values(), badges);
    this.place.replaceChildren(picture);
  }

  /** @param {Box} box @returns {SVGElement} */
  group({ machine, path, name, x, y, width, height }) {
    const made = draw("g", { class: path ? "composite" : "composite beside", "data-machine": machine, "data-path": path || machine });
    made.style.setProperty("--own", stateColour(name));
    made.append(
      draw("rect", { x, y, width, height, rx: 12 }),
      draw("text", { x: x + width / 2, y: y + 19, class: "title" }, name),
    );
    return made;
  }

  /** @param {Box} box @returns {SVGElement} */
  leaf({ machine, path, name, x, y, width, height }) {
    const table = this.table(machine);
    const { enabled, terminal, words } = table.state(path);
    const composite = path.includes("/") ? path.split("/")[0] : machine;
    const made = draw("g", { class: enabled ? "leaf" : "leaf disabled", "data-machine": machine, "data-path": path, tabindex: 0, role: "button" });
    made.setAttribute("aria-label", `${path}: its rows`);
    made.style.setProperty("--own", stateColour(composite));
    made.append(draw("title", {}, `${path}${words ? `: ${words}` : ""}${enabled ? "" : " (disabled)"}`));
    made.append(draw("rect", { x, y, width, height, rx: 8 }));
    if (terminal) {
      made.append(draw("rect", { x: x + 3, y: y + 3, width: width - 6, height: height - 6, rx: 5.5, class: "inner" }));
    }
    if (table.resolve(path.includes("/") ? composite : table.initial) === path) {
      made.append(draw("circle", { cx: x + 10, cy: y + height / 2, r: 3, class: "initial" }));
    }
    made.append(draw("text", { x: x + width / 2, y: y + height / 2 + 4.5 }, name));
    made.addEventListener("click", () => this.look(machine, path));
    made.addEventListener("keydown", (event) => {
      if (/** @type {KeyboardEvent} */ (event).key === "Enter") {
        this.look(machine, path);
      }
    });
    return made;
  }

  /** @param {string} name @returns {import("#machine/tables.js").MachineTable} */
  table(name) {
    const found = this.tables.find((each) => each.name === name);
    if (!found) {
      throw new Error(`no machine ${name}`);
    }
    return found;
  }

  /** @param {Moment} moment @param {Looked} looked */
  show(moment, looked) {
    for (const [key, made] of this.leaves) {
      const [machine, path] = key.split(" ");
      made.classList.toggle("active", moment.machines.get(machine)?.path === path);
    }
    this.showLooked(looked);
    const [hierarchy, stop] = this.tables;
    /** @type {Badge[]} */
    const shown = [];
    for (const made of this.place.querySelectorAll("[data-machine]")) {
      const machine = made.getAttribute("data-machine");
      made.classList.toggle("frozen", moment.frozen && machine !== stop.name);
    }
    for (const drawn of this.arrows) {
      const machine = drawn.arrow.machine;
      const seen = moment.machines.get(machine);
      if (seen) {
        const from = looked?.machine === machine ? looked.path : machine === hierarchy.name || seen.timers.length ? seen.path : "";
        shown.push(...this.showArrow(drawn, seen, from, moment.t, moment.frozen && machine !== stop.name));
      }
    }
    this.placeBadges(shown);
  }

  /** Beside the ends of their arrows; those that meet at one side of a state share one. @param {Badge[]} shown */
  placeBadges(shown) {
    /** @type {Map<string, Badge[]>} */
    const meeting = new Map();
    for (const each of shown) {
      const { machine, dest, heading } = each.arrow;
      const key = `${machine} ${dest} ${heading}`;
      meeting.set(key, [...(meeting.get(key) ?? []), each]);
    }
    for (const [first, ...others] of meeting.values()) {
      const all = [first, ...others];
      const text = ranges(all.flatMap(({ numbers }) => numbers).sort((a, b) => a - b));
      const y = all.reduce((sum, { arrow }) => sum + arrow.y2, 0) / all.length;
      this.fillBadge(first.badge, text, first.arrow, y);
      others.forEach(({ badge }) => badge.replaceChildren());
      others.forEach(({ badge }) => badge.removeAttribute("data-at"));
    }
  }

  /** @param {SVGElement} badge @param {string} text @param {Arrow} arrow @param {number} y */
  fillBadge(badge, text, { x2, heading }, y) {
    const width = 8 + 5.8 * text.length;
    const beside = x2 - heading * (9.5 + width / 2);
    const x = Math.min(Math.max(beside, width / 2 + 1), this.width - width / 2 - 1);
    if (badge.getAttribute("data-at") !== `${text} ${x} ${y}`) {
      badge.setAttribute("data-at", `${text} ${x} ${y}`);
      badge.replaceChildren(draw("rect", { x: x - width / 2, y: y - 8, width, height: 16, rx: 8 }), draw("text", { x, y: y + 3.8 }, text));
    }
  }

  /** @param {Looked} looked */
  showLooked(looked) {
    this.place.classList.toggle("looking", looked !== null);
    for (const [key, made] of this.leaves) {
      made.classList.toggle("looked", looked !== null && key === `${looked.machine} ${looked.path}`);
    }
  }

  /**
   * @param {DrawnArrow} drawn
   * @param {Seen} seen
   * @param {string} from whose rows are numbered
   * @param {number} t
   * @param {boolean} frozen
   * @returns {Badge[]} with the numbers of its rows, if it has some
   */
  showArrow({ arrow, group, fill, badge }, seen, from, t, frozen) {
    const table = this.table(arrow.machine);
    const same = (/** @type {{source: string, dest: string}} */ row) => row.source === arrow.source && table.resolve(row.dest) === arrow.dest;
    const rows = table.rowsFrom.get(from) ?? [];
    const numbers = rows.flatMap((row, i) => (same(row) ? [i + 1] : []));
    const timers = seen.timers.filter(({ row }) => same(row));
    const { last } = seen;
    const fired = last !== null && t - last.t < FLASH_S && covers(arrow.source, last.source) && last.dest === arrow.dest
      && table.rows.some((row) => same(row) && row.guard === last.guard); // prettier-ignore
    group.classList.toggle("out", numbers.length > 0);
    group.classList.toggle("fired", fired);
    group.classList.toggle("still", frozen);
    fill.style.display = timers.length ? "" : "none";
    fill.setAttribute("stroke-dasharray", `${Math.max(0, ...timers.map(share))} 1`);
    if (!numbers.length && badge.hasAttribute("data-at")) {
      badge.removeAttribute("data-at");
      badge.replaceChildren();
    }
    return numbers.length ? [{ arrow, badge, numbers }] : [];
  }
}

/** @param {Arrow} arrow @returns {DrawnArrow} */
function arrowOf(arrow) {
  const { curve, x2, y2, heading, machine, source, dest } = arrow;
  const group = draw("g", { class: "arrow", "data-machine": machine, "data-from": source, "data-to": dest });
  const fill = draw("path", { d: curve, class: "fill", pathLength: 1 });
  group.append(
    draw("path", { d: curve, class: "line" }),
    fill,
    draw("path", { d: `M${x2},${y2} l${-8 * heading},-4.5 v9 z`, class: "head" }),
  );
  return { arrow, group, fill, badge: draw("g", { class: "badge" }) };
}

/** @param {number[]} numbers in order @returns {string} as `1 3-5` */
export function ranges(numbers) {
  /** @type {number[][]} */
  const runs = [];
  for (const number of numbers) {
    const run = runs[runs.length - 1];
    if (run && number === run[run.length - 1] + 1) {
      run.push(number);
    } else {
      runs.push([number]);
    }
  }
  return runs.map((run) => (run.length > 2 ? `${run[0]}-${run[run.length - 1]}` : run.join(" "))).join(" ");
}
