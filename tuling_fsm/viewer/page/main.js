/** The page: inflates the runs, lays out stages and charts, and keeps all of them at the same moment. */

import { TimeAxis } from "#film/axis.js";
import { Bands } from "#film/bands.js";
import { Charts } from "#film/charts.js";
import { Clock } from "#film/clock.js";
import { Columns, inflate } from "#film/columns.js";
import { element, part } from "#film/dom.js";
import { EventMarks, eventsOf, listEvents } from "#film/events.js";
import { keyBindings, listenToKeys } from "#film/keys.js";
import { MomentPanel } from "#film/moment.js";
import { LAYERS } from "#film/painter.js";
import { Feed } from "#film/live.js";
import { Recording } from "#film/recording.js";
import { Scenery } from "#film/scenery.js";
import { LABEL_LAYER, MAP_LAYER, Stage } from "#film/stage.js";
import { headline, scale } from "#film/summary.js";
import { Transport } from "#film/transport.js";

const LINK_PERIOD_MS = 400;
/** What shows all of a drive that goes on is drawn anew as often. */
const SURVEY_PERIOD_MS = 500;
/** @type {Record<import("#film/live.js").FeedState, string>} */
const FEED_WORDS = { waiting: "waiting for the car", live: "live", lost: "connection lost", over: "over" };

class Film {
  /** @param {Recording[]} recordings one or two */
  constructor(recordings) {
    this.recordings = recordings;
    const [begin, end] = [Math.min(...recordings.map((each) => each.begin)), Math.max(...recordings.map((each) => each.end))];
    this.clock = new Clock(begin, end);
    this.transport = new Transport(this.clock);
    this.axis = new TimeAxis(begin, end);
    this.layers = new Set([MAP_LAYER, LABEL_LAYER, ...Object.keys(LAYERS)]);
    this.layers.delete(LABEL_LAYER);
    this.looksAt = recordings[0];
    /** @type {Stage[]} */
    this.stages = [];
    this.changed = true;
    /** Pictures drawn since the page was opened. */
    this.frames = 0;
    this.panel = new MomentPanel(part("moment"));
    this.bands = new Bands(/** @type {HTMLCanvasElement} */ (part("bands")), recordings, this.axis);
    this.charts = new Charts(part("charts"), recordings, this.axis, (t) => this.clock.seek(t));
    this.events = eventsOf(recordings);
    const strip = /** @type {HTMLCanvasElement} */ (part("marks"));
    this.marks = new EventMarks(strip, this.events, begin, end, (t) => this.clock.seek(t));
    this.linkedAt = 0;
    this.grown = false;
    this.surveyedAt = 0;
    this.drawnAt = NaN;
  }

  start() {
    headline(part("headline"), this.recordings);
    scale(part("scale"));
    this.listLayers();
    this.stage(false);
    this.controls();
    listEvents(part("events"), this.events, (t) => this.clock.seek(t));
    this.theme(matchMedia("(prefers-color-scheme: dark)").matches);
    part("live").hidden = !this.clock.open;
    this.clock.onChange(() => (this.changed = true));
    this.axis.onChange(() => this.drawAxis());
    new ResizeObserver(() => this.resize()).observe(document.body);
    this.resize();
    this.goToLink();
    window.addEventListener("hashchange", () => this.goToLink());
    requestAnimationFrame((now) => this.frame(now));
  }

  /** What has come since, of a drive that goes on. @param {Columns} columns */
  grow(columns) {
    const [recording] = this.recordings;
    recording.append(columns);
    this.clock.extend(recording.end);
    this.axis.extend(recording.end);
    /** @type {HTMLInputElement} */ (part("slider")).max = String(recording.end);
    this.grown = this.changed = true;
  }

  /** What shows all of the drive. */
  survey() {
    const { recordings, clock, marks } = this;
    this.events = eventsOf(recordings);
    marks.update(this.events, clock.end);
    this.bands.update();
    this.charts.update();
    headline(part("headline"), recordings);
    listEvents(part("events"), this.events, (t) => clock.seek(t));
    this.drawAxis();
  }

  /** Nothing more comes. */
  close() {
    this.clock.close();
    part("live").hidden = true;
    this.survey();
  }

  /** One stage with all runs over each other, or one for each. @param {boolean} beside */
  stage(beside) {
    const place = part("stages");
    const groups = beside ? this.recordings.map((each) => [each]) : [this.recordings];
    place.replaceChildren();
    this.stages = groups.map((group) => {
      const canvas = document.createElement("canvas");
      canvas.setAttribute("aria-label", "the run from above");
      place.append(canvas);
      return new Stage(canvas, group, new Scenery(beside ? group : this.recordings), this.layers, () => (this.changed = true));
    });
    for (const stage of this.stages) {
      stage.resize(); // Each is narrower since the next one came.
    }
    part("beside").setAttribute("aria-pressed", String(beside));
    this.changed = true;
  }

  listLayers() {
    const labels = Object.entries(LAYERS).map(([name, { label }]) => [name, label]);
    for (const [name, label] of [[MAP_LAYER, "map"], ...labels, [LABEL_LAYER, "names"]]) {
      const box = document.createElement("input");
      box.type = "checkbox";
      box.checked = this.layers.has(name);
      box.dataset["layer"] = name;
      box.addEventListener("change", () => {
        this.layers[box.checked ? "add" : "delete"](name);
        this.changed = true;
      });
      const line = element("label");
      line.append(box, label);
      part("layers").append(line);
    }
  } // prettier-ignore

  controls() {
    const { clock } = this;
    const bind = (/** @type {string} */ id, /** @type {() => void} */ act) => part(id).addEventListener("click", act);
    bind("follow", () => this.follow());
    bind("live", () => clock.goLive());
    bind("nearer", () => this.zoom(1.25));
    bind("farther", () => this.zoom(0.8));
    bind("theme", () => this.theme(document.documentElement.dataset["theme"] !== "dark"));
    bind("whole", () => this.axis.show(NaN, NaN));
    const two = this.recordings.length > 1;
    for (const id of ["beside", "which"]) {
      part(id).hidden = !two;
    }
    bind("beside", () => this.stage(this.stages.length === 1));
    bind("which", () => this.lookAt(this.recordings[(this.recordings.indexOf(this.looksAt) + 1) % this.recordings.length]));
    this.lookAt(this.looksAt);
    this.scrubBands();
    const film = {
      zoom: (/** @type {number} */ factor) => this.zoom(factor),
      follow: () => this.follow(),
      jump: (/** @type {number} */ steps) => this.jump(steps),
    };
    const live = { keys: ["l"], shown: "l", says: "live, while it drives", act: () => clock.goLive() };
    const bindings = [...keyBindings(clock, film), live];
    listenToKeys(bindings);
    part("help").append(...bindings.flatMap(({ shown, says }) => [element("kbd", "", shown), ` ${says}  `]));
  }

  /** @param {Recording} recording whose moment is told */
  lookAt(recording) {
    this.looksAt = recording;
    part("which").textContent = `why of ${recording.name}`;
    this.changed = true;
  }

  scrubBands() {
    const { canvas } = this.bands;
    const go = (/** @type {PointerEvent} */ event) => this.clock.seek(this.axis.time(event.offsetX));
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      canvas.title = this.bands.wordsAt(event.offsetX, event.offsetY);
      if (event.buttons) {
        go(event);
      }
    });
  }

  /** @param {boolean} dark */
  theme(dark) {
    document.documentElement.dataset["theme"] = dark ? "dark" : "light";
    this.charts.build();
    this.drawAxis();
    this.changed = true;
  }

  /** @param {number} factor */
  zoom(factor) {
    for (const { camera } of this.stages) {
      camera.zoom(factor);
    }
    this.changed = true;
  }

  follow() {
    for (const { camera } of this.stages) {
      camera.follow = !camera.follow;
    }
    this.changed = true;
  }

  /** @param {number} steps to the next mark, or to that before */
  jump(steps) {
    const { events, clock } = this;
    const found = steps > 0 ? events.find((each) => each.t > clock.t + 1e-3) : events.filter((each) => each.t < clock.t - 1e-3).pop();
    if (found) {
      clock.seek(found.t);
    }
  }

  resize() {
    this.axis.width = Math.max(part("timeline").clientWidth, 200);
    for (const stage of this.stages) {
      stage.resize();
    }
    this.charts.show();
    this.marks.draw();
    this.drawAxis();
    this.changed = true;
  }

  drawAxis() {
    this.bands.draw();
    this.charts.show();
    this.marks.draw();
    part("whole").hidden = this.axis.from === this.axis.begin && this.axis.to === this.axis.end;
    this.changed = true;
  }

  /** The moment of the address, as in `report.html#t=143`. */
  goToLink() {
    const found = /[#&]t=([-\d.]+)/.exec(location.hash);
    if (found && Math.abs(Number(found[1]) - this.clock.t) > 0.006) {
      this.clock.seek(Number(found[1]));
    }
  }

  /** @param {number} now ms of the browser's clock */
  link(now) {
    if (this.clock.atEdge && location.hash) {
      history.replaceState(null, "", location.pathname);
    }
    if (!this.clock.playing && !this.clock.atEdge && now - this.linkedAt > LINK_PERIOD_MS) {
      this.linkedAt = now;
      const wanted = `#t=${Number(this.clock.t.toFixed(2))}`;
      if (location.hash !== wanted) {
        history.replaceState(null, "", wanted);
      }
    }
  }

  /** @param {number} now ms of the browser's clock */
  frame(now) {
    this.clock.frame(now);
    if (this.grown && now - this.surveyedAt > SURVEY_PERIOD_MS) {
      this.grown = false;
      this.surveyedAt = now;
      this.survey();
    }
    if (this.changed) {
      this.changed = false;
      this.draw();
    }
    this.link(now);
    requestAnimationFrame((next) => this.frame(next));
  }

  draw() {
    const { clock, axis } = this;
    for (const stage of this.stages) {
      stage.draw(clock.t);
    }
    if (clock.t !== this.drawnAt) {
      this.drawnAt = clock.t;
      axis.keepInView(clock.t);
    }
    this.panel.show(this.looksAt, clock.t);
    const ego = this.looksAt.egoAt(clock.t);
    this.transport.show();
    part("velocity").textContent = ego.v.toFixed(1);
    part("live").setAttribute("aria-pressed", String(clock.atEdge));
    part("follow").setAttribute("aria-pressed", String(this.stages[0].camera.follow));
    part("now").hidden = clock.t < axis.from || clock.t > axis.to;
    part("now").style.transform = `translateX(${axis.pixel(clock.t)}px)`;
    this.frames += 1;
  }
}

/** @param {Film} film */
function show(film) {
  film.start();
  // For tests, and for whoever wants to lead the page from the console.
  Object.assign(globalThis, { film });
  document.documentElement.dataset["ready"] = "true";
}

/** A drive that goes on: the page begins with its first patch. */
function watch() {
  /** @type {Film | null} */
  let film = null;
  const take = (/** @type {Columns} */ columns) => {
    if (film) {
      film.grow(columns);
    } else {
      film = new Film([Recording.opened(columns)]);
      film.clock.open = true;
      film.clock.goLive();
      show(film);
    }
  };
  const feed = new Feed(take, (state) => {
    part("feed").textContent = FEED_WORDS[state];
    document.documentElement.dataset["feed"] = state;
    if (state === "over") {
      film?.close();
    }
  });
  part("feed").hidden = false;
  part("feed").textContent = FEED_WORDS[feed.state];
}

async function open() {
  if (document.documentElement.dataset["kind"] === "live") {
    watch();
    return;
  }
  const packed = [...document.querySelectorAll("script.run")];
  const recordings = await Promise.all(
    packed.map(async (script, i) => new Recording(new Columns(await inflate(script.textContent ?? "")), "AB"[i])),
  );
  show(new Film(recordings));
}

open().catch((error) => {
  part("headline").textContent = `This page could not be opened: ${error}. It needs a browser of 2023 or later.`;
  throw error;
});
