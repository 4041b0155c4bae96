/** The page of a map: its canvas, what is read off it, what is searched and picked. */

import { Camera } from "#film/camera.js";
import { Columns, inflate } from "#film/columns.js";
import { element, fit, part, themeButton } from "#film/dom.js";
import { Finder } from "#film/finder.js";
import { Gestures } from "#film/gestures.js";
import { listenToKeys } from "#film/keys.js";
import { Lanes } from "#film/lanes.js";
import { drawDirections, drawEnds, drawNumbers, drawPick, drawRoute, drawSignals, tint } from "#film/map_layers.js";
import { palette } from "#film/palette.js";
import { showPicked, showUnder } from "#film/place_panel.js";
import { headingOf } from "#film/pose_text.js";
import { Scenery } from "#film/scenery.js";

/**
 * @typedef {import("#film/lanes.js").Lane} Lane
 * @typedef {import("#film/map_layers.js").Signal} Signal
 * @typedef {import("#film/pose_text.js").Pick} Pick
 */

/** How near to a signal the pointer has to be to mean it, px, and at least, m. */
const NEAR_PX = 9;
const NEAR_M = 0.6;
const PAN_PX = 90;
const NEAREST_FIND = 14;
const RULER_PX = 110;

class RoadAtlas {
  /** @param {Columns} columns */
  constructor(columns) {
    this.header = columns.header;
    this.lanes = new Lanes(columns, this.header["lanes"]);
    this.scenery = new Scenery([{ columns, header: this.header }]);
    /** @type {Signal[]} */
    this.signals = this.header["signals"];
    this.finder = new Finder(this.lanes, this.signals, this.header["slots"], this.header["origin"]);
    this.canvas = /** @type {HTMLCanvasElement} */ (part("map"));
    this.ink = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d", { alpha: false }));
    this.camera = new Camera();
    this.ratio = 1;
    /** @type {[number, number] | null} where the pointer is, px */
    this.pointer = null;
    /** @type {Pick | null} */
    this.under = null;
    /** @type {Pick | null} */
    this.picked = null;
    /** @type {Path2D[]} */
    this.foundOutlines = [];
    const driving = this.lanes.all.filter(({ rank }) => rank === 0);
    // In junctions arrows would lie over each other; the lane under the pointer tells its way there.
    this.middles = driving.filter(({ junction }) => !junction).map(({ row }) => this.lanes.middle(row));
    this.numbers = this.roadNumbers(driving);
    this.changed = true;
    /** @type {Record<string, number>} */
    this.drawn = {};
  }

  /** @param {Lane[]} driving @returns {{road: string, x: number, y: number}[]} the longest first */
  roadNumbers(driving) {
    /** @type {Map<string, Lane>} */
    const longest = new Map();
    for (const lane of driving.filter(({ junction }) => !junction)) {
      const other = longest.get(lane.road);
      if (!other || this.lanes.length(lane.row) > this.lanes.length(other.row)) {
        longest.set(lane.road, lane);
      }
    }
    const sorted = [...longest.values()].sort((a, b) => this.lanes.length(b.row) - this.lanes.length(a.row));
    return sorted.map(({ road, row }) => ({ road, ...this.lanes.middle(row) }));
  }

  start() {
    const redraw = () => (this.changed = true);
    new Gestures(this.canvas, this.camera, redraw, (x, y) => this.pick(x, y));
    this.canvas.addEventListener("pointermove", (event) => {
      this.pointer = [event.offsetX, event.offsetY];
      redraw();
    });
    this.canvas.addEventListener("pointerleave", () => {
      this.pointer = null;
      redraw();
    });
    new ResizeObserver(() => this.resize()).observe(part("stages"));
    this.resize();
    this.facts();
    this.controls();
    themeButton(redraw);
    this.showWhole();
    if (this.header["route"]) {
      this.showRoute();
    }
    requestAnimationFrame(() => this.frame());
  }

  facts() {
    const { lanes, header } = this;
    const driving = lanes.all.filter(({ rank }) => rank === 0);
    const km = driving.reduce((sum, { row }) => sum + lanes.length(row), 0) / 1000;
    const roads = new Set(lanes.all.map(({ road }) => road)).size;
    const said = [`${roads} roads`, `${km.toFixed(1)} km of driving lanes`, `${this.signals.length} signals`];
    const drives = header["left_hand"] ? ["left-hand traffic"] : [];
    part("headline").firstElementChild?.append(...[...said, ...drives].map((fact) => element("span", "fact", fact)));
  }

  controls() {
    const bind = (/** @type {string} */ id, /** @type {() => void} */ act) => part(id).addEventListener("click", act);
    bind("whole-map", () => this.showWhole());
    bind("whole-route", () => this.showRoute());
    bind("nearer", () => this.zoom(1.4));
    bind("farther", () => this.zoom(1 / 1.4));
    part("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.find(/** @type {HTMLInputElement} */ (part("query")).value);
    });
    const pan = (/** @type {number} */ dx, /** @type {number} */ dy) => () => {
      this.camera.pan(dx * PAN_PX, dy * PAN_PX);
      this.changed = true;
    };
    const bindings = [
      { keys: ["ArrowLeft"], shown: "← → ↑ ↓", says: "move", act: pan(1, 0) },
      { keys: ["ArrowRight"], shown: "", says: "", act: pan(-1, 0) },
      { keys: ["ArrowUp"], shown: "", says: "", act: pan(0, 1) },
      { keys: ["ArrowDown"], shown: "", says: "", act: pan(0, -1) },
      { keys: ["+", "="], shown: "+", says: "nearer", act: () => this.zoom(1.4) },
      { keys: ["-"], shown: "−", says: "farther", act: () => this.zoom(1 / 1.4) },
      { keys: ["Home"], shown: "Home", says: "the whole map", act: () => this.showWhole() },
      { keys: ["/"], shown: "/", says: "search", act: () => part("query").focus() },
    ];
    if (this.header["route"]) {
      part("whole-route").hidden = false;
      this.listRoute();
      bindings.push({ keys: ["r"], shown: "r", says: "the whole route", act: () => this.showRoute() });
    }
    listenToKeys(bindings);
    const shown = bindings.filter((each) => each.shown);
    part("help").append(...shown.flatMap((each) => [element("kbd", "", each.shown), ` ${each.says}  `]));
  } // prettier-ignore

  listRoute() {
    const { length, lanes } = this.header["route"];
    const rows = lanes.map((/** @type {{lane: number, s: number, change: number}} */ { lane, s, change }) => {
      const { road, section, lane: number } = this.lanes.all[lane];
      const button = element("button", "", `road ${road}, section ${section}, lane ${number}`);
      const turn = change ? (change > 0 ? " ↰" : " ↱") : "";
      button.append(element("span", "", `${s.toFixed(0)} m${turn}`));
      button.title = change ? `then a lane change to the ${change > 0 ? "left" : "right"}` : "";
      button.addEventListener("click", () => this.look(this.lanes.bounds([this.lanes.all[lane]])));
      const item = element("li");
      item.append(button);
      return item;
    });
    const listed = element("ol");
    listed.append(...rows);
    part("way").hidden = false;
    part("way").replaceChildren(element("h2", "", `The route: ${length.toFixed(1)} m over ${rows.length} lanes`), listed);
  }

  showWhole() {
    const [x0, y0, x1, y1] = this.header["bounds"];
    this.camera.least = 1e-3;
    this.look([x0, y0, x1, y1], Infinity);
    this.camera.least = Math.min(0.3, 0.5 * this.camera.scale);
  }

  showRoute() {
    const { xy } = this.header["route"];
    const of = (/** @type {number} */ odd) => xy.filter((/** @type {number} */ _, /** @type {number} */ i) => i % 2 === odd);
    this.look([Math.min(...of(0)), Math.min(...of(1)), Math.max(...of(0)), Math.max(...of(1))]);
  }

  /** @param {[number, number, number, number]} box m @param {number} [most] px a metre */
  look(box, most = NEAREST_FIND) {
    this.camera.show(...box, most);
    this.changed = true;
  }

  /** @param {number} factor */
  zoom(factor) {
    this.camera.zoom(factor);
    this.changed = true;
  }

  /** @param {string} query */
  find(query) {
    const found = this.finder.find(query);
    const said = part("found");
    said.className = found ? "quiet" : "bad";
    said.textContent = found ? found.words : query.trim() ? `nothing is called ${query.trim()} here` : "";
    this.foundOutlines = (found?.lanes ?? []).map(({ row }) => this.lanes.outline(row));
    if (found) {
      this.look(found.box);
    }
    this.changed = true;
  }

  /** @param {number} x m of the page @param {number} y */
  pick(x, y) {
    this.picked = { x, y, place: this.lanes.at(x, y) };
    showPicked(this.inMap(this.picked), this.beside(this.picked));
    this.changed = true;
  }

  /** What lies at a point of the page, with the point in `map`. @param {Pick} pick @returns {Pick} */
  inMap({ x, y, place }) {
    const { origin } = this.header;
    return { x: x + origin.x, y: y + origin.y, place };
  }

  /** The signal at a point, and the stop lines of the lane there. @param {Pick | null} pick */
  beside(pick) {
    const reach = Math.max(NEAR_M, NEAR_PX / this.camera.scale);
    const apart = (/** @type {Signal} */ each) => (pick ? Math.hypot(each.x - pick.x, each.y - pick.y) : Infinity);
    const near = this.signals.filter((each) => apart(each) <= reach).sort((a, b) => apart(a) - apart(b));
    const row = pick?.place?.lane.row;
    /** @type {import("#film/map_layers.js").StopLine[]} */
    const stopLines = this.header["stop_lines"];
    return { signal: near[0], stops: stopLines.filter(({ lane }) => lane === row) };
  }

  resize() {
    this.ratio = fit(this.canvas, this.camera);
    this.changed = true;
  }

  frame() {
    if (this.changed) {
      this.changed = false;
      this.draw();
    }
    requestAnimationFrame(() => this.frame());
  }

  draw() {
    const { ink, camera, ratio, header, lanes } = this;
    const surface = { ink, camera, ratio };
    const [x, y] = this.pointer ? camera.toMap(...this.pointer) : [NaN, NaN];
    this.under = this.pointer ? { x, y, place: lanes.at(x, y) } : null;
    this.scenery.draw(ink, camera, ratio);
    camera.apply(ink, ratio);
    tint(surface, this.foundOutlines, palette().target, 0.3);
    tint(surface, this.under?.place ? [lanes.outline(this.under.place.lane.row)] : [], palette().ego, 0.22);
    this.drawn = {
      directions: drawDirections(surface, this.middles),
      signals: drawSignals(surface, header["stop_lines"], this.signals),
      route: header["route"] ? drawRoute(surface, header["route"]) : 0,
      numbers: drawNumbers(surface, this.numbers),
    };
    drawEnds(surface, header["ends"]);
    if (this.picked) {
      drawPick(surface, this.picked, headingOf(this.picked));
    }
    showUnder(this.under && this.inMap(this.under), this.beside(this.under));
    this.ruler();
  }

  /** A length that is round and fits. */
  ruler() {
    const most = RULER_PX / this.camera.scale;
    const decade = 10 ** Math.floor(Math.log10(most));
    const length = decade * (most / decade >= 5 ? 5 : most / decade >= 2 ? 2 : 1);
    const [bar, words] = /** @type {HTMLElement[]} */ ([...part("ruler").children]);
    bar.style.width = `${length * this.camera.scale}px`;
    words.textContent = `${length} m`;
  }
}

async function open() {
  const data = document.querySelector("script.run")?.textContent ?? "";
  const atlas = new RoadAtlas(new Columns(await inflate(data)));
  atlas.start();
  // For tests, and for whoever wants to lead the page from the console.
  Object.assign(globalThis, { atlas });
  document.documentElement.dataset["ready"] = "true";
}

open().catch((error) => {
  part("headline").textContent = `This page could not be opened: ${error}. It needs a browser of 2023 or later.`;
  throw error;
});
