/** The page of a free-space manoeuvre: the car driven along it, with speed and steering on one axis of time. */

import { TimeAxis } from "#film/axis.js";
import { Camera } from "#film/camera.js";
import { Charts, MOTION } from "#film/charts.js";
import { Clock, clockText } from "#film/clock.js";
import { Columns, inflate } from "#film/columns.js";
import { element, fit, part, themeButton } from "#film/dom.js";
import { EventMarks, listEvents } from "#film/events.js";
import { Gestures } from "#film/gestures.js";
import { keyBindings, listenToKeys } from "#film/keys.js";
import { gearColour, gearWords, Maneuver } from "#film/maneuver.js";
import { palette } from "#film/palette.js";
import { Transport } from "#film/transport.js";

/** @typedef {import("#film/events.js").FilmEvent} FilmEvent */

const DEGREES = 180 / Math.PI;
const SHORTEST_S = 1e-3;

class ManeuverFilm {
  /** @param {Columns} columns */
  constructor(columns) {
    this.maneuver = new Maneuver(columns);
    this.clock = new Clock(0, Math.max(this.maneuver.end, SHORTEST_S));
    this.axis = new TimeAxis(0, this.clock.end);
    this.transport = new Transport(this.clock);
    this.canvas = /** @type {HTMLCanvasElement} */ (part("above"));
    this.ink = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d", { alpha: false }));
    this.camera = new Camera();
    this.camera.least = 0.02;
    this.ratio = 1;
    this.charts = new Charts(part("charts"), [{ columns }], this.axis, (t) => this.clock.seek(t), MOTION);
    /** @type {FilmEvent[]} */
    this.events = this.maneuver.moves.map(({ gear, from, to, length }) => ({
      t: from, to, kind: "transition", words: gearWords(gear), more: `${length.toFixed(1)} m in ${(to - from).toFixed(1)} s`,
      colour: gearColour(gear),
    })); // prettier-ignore
    const strip = /** @type {HTMLCanvasElement} */ (part("marks"));
    this.marks = new EventMarks(strip, this.events, 0, this.clock.end, (t) => this.clock.seek(t));
    this.changed = true;
    /** @type {import("#film/recording.js").EgoState | null} in the last picture */
    this.ego = null;
  }

  start() {
    const redraw = () => (this.changed = true);
    new Gestures(this.canvas, this.camera, redraw);
    this.facts();
    listEvents(part("events"), this.events, (t) => this.clock.seek(t));
    this.controls();
    this.clock.onChange(redraw);
    this.axis.onChange(() => {
      part("whole").hidden = this.axis.from === this.axis.begin && this.axis.to === this.axis.end;
      this.charts.show();
      redraw();
    });
    new ResizeObserver(() => this.resize()).observe(document.body);
    this.resize();
    this.whole();
    themeButton(() => {
      this.charts.build();
      redraw();
    });
    requestAnimationFrame((now) => this.frame(now));
  }

  facts() {
    const { header } = this.maneuver;
    const { facts } = header;
    const verdict = header["solved"] ? ["good", "planned"] : ["bad", `no plan: ${header["reason"]}`];
    const said = [
      `${facts.length_m.toFixed(1)} m`, `${facts.cusps} gear change${facts.cusps === 1 ? "" : "s"}`, `${this.maneuver.end.toFixed(1)} s`,
      `first path after ${facts.first_path_ms.toFixed(1)} ms`, `trajectory after ${facts.elapsed_ms.toFixed(1)} ms`,
    ]; // prettier-ignore
    const line = part("headline").firstElementChild;
    line?.append(element("span", `verdict ${verdict[0]}`, verdict[1]));
    line?.append(...(header["solved"] ? said : []).map((fact) => element("span", "fact", fact)));
  }

  controls() {
    const bind = (/** @type {string} */ id, /** @type {() => void} */ act) => part(id).addEventListener("click", act);
    bind("follow", () => this.follow());
    bind("whole-plan", () => this.whole());
    bind("whole", () => this.axis.show(NaN, NaN));
    bind("nearer", () => this.zoom(1.25));
    bind("farther", () => this.zoom(0.8));
    const film = {
      zoom: (/** @type {number} */ factor) => this.zoom(factor),
      follow: () => this.follow(),
      jump: (/** @type {number} */ steps) => this.jump(steps),
    };
    const whole = { keys: ["0"], shown: "0", says: "the whole manoeuvre", act: () => this.whole() };
    const bindings = [...keyBindings(this.clock, film), whole];
    listenToKeys(bindings);
    part("help").append(...bindings.flatMap(({ shown, says }) => [element("kbd", "", shown), ` ${says}  `]));
  }

  whole() {
    const [x0, y0, x1, y1] = this.maneuver.header["bounds"];
    this.camera.show(x0, y0, x1, y1);
    this.changed = true;
  }

  follow() {
    this.camera.follow = !this.camera.follow;
    this.changed = true;
  }

  /** @param {number} factor */
  zoom(factor) {
    this.camera.zoom(factor);
    this.changed = true;
  }

  /** @param {number} steps to the next move, or to that before */
  jump(steps) {
    const { events, clock } = this;
    const found = steps > 0 ? events.find((each) => each.t > clock.t + 1e-3) : events.filter((each) => each.t < clock.t - 1e-3).pop();
    clock.seek(found ? found.t : NaN);
  }

  resize() {
    this.axis.width = Math.max(part("timeline").clientWidth, 200);
    this.ratio = fit(this.canvas, this.camera);
    this.charts.show();
    this.marks.draw();
    this.changed = true;
  }

  /** @param {number} now ms of the browser's clock */
  frame(now) {
    this.clock.frame(now);
    if (this.changed) {
      this.changed = false;
      this.draw();
    }
    requestAnimationFrame((next) => this.frame(next));
  }

  draw() {
    const { ink, camera, ratio, clock, maneuver, axis } = this;
    this.ego = maneuver.at(clock.t);
    if (camera.follow) {
      camera.lookAt(this.ego.x, this.ego.y, this.ego.heading);
    }
    ink.setTransform(1, 0, 0, 1, 0, 0);
    ink.fillStyle = palette().ground;
    ink.fillRect(0, 0, this.canvas.width, this.canvas.height);
    camera.apply(ink, ratio);
    maneuver.draw({ ink, camera, ratio }, clock.t);
    this.transport.show();
    this.say(clock.t);
    part("now").hidden = clock.t < axis.from || clock.t > axis.to;
    part("now").style.transform = `translateX(${axis.pixel(clock.t)}px)`;
    part("follow").setAttribute("aria-pressed", String(camera.follow));
  }

  /** @param {number} t */
  say(t) {
    const { maneuver, ego } = this;
    const { origin } = maneuver.header;
    const move = maneuver.moveAt(t);
    part("velocity").textContent = Math.abs(ego?.v ?? 0).toFixed(2);
    part("gear").textContent = move ? gearWords(move.gear) : "stands";
    part("gear").style.background = gearColour(move?.gear ?? 1);
    const rows = [
      ["time", clockText(t)],
      ["x, y", ego ? `${(ego.x + origin.x).toFixed(2)} m, ${(ego.y + origin.y).toFixed(2)} m` : ""],
      ["heading", `${ego?.heading.toFixed(3)} rad`],
      ["speed", `${ego?.v.toFixed(2)} m/s`],
      ["steering", `${(maneuver.value(t, "plan.steer") * DEGREES).toFixed(1)}°`],
      ["driven", `${maneuver.value(t, "ego.s").toFixed(1)} m`],
    ];
    const list = element("dl");
    list.append(...rows.flatMap(([name, value]) => [element("dt", "", name), element("dd", "", value)]));
    part("pose").replaceChildren(element("h2", "", "The car"), list);
  }
}

async function open() {
  const data = document.querySelector("script.run")?.textContent ?? "";
  const film = new ManeuverFilm(new Columns(await inflate(data)));
  film.start();
  // For tests, and for whoever wants to lead the page from the console.
  Object.assign(globalThis, { film });
  document.documentElement.dataset["ready"] = "true";
}

open().catch((error) => {
  part("headline").textContent = `This page could not be opened: ${error}. It needs a browser of 2023 or later.`;
  throw error;
});
