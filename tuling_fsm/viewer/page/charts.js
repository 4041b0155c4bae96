/** Curves over the same time axis, drawn by uPlot: speed with its limit, steering, dwell timers, times of ticks. */

import { RIGHT } from "#film/axis.js";
import { clockText } from "#film/clock.js";
import { palette } from "#film/palette.js";

/**
 * @typedef {{columns: import("#film/columns.js").Columns}} Recording
 * @typedef {import("#film/axis.js").TimeAxis} TimeAxis
 * @typedef {{label: string, x: ArrayLike<number>, y: ArrayLike<number>, stepped?: boolean, quiet?: boolean,
 *   filled?: boolean}} Curve
 * @typedef {{title: string, curves: (recording: Recording) => Curve[], height: number}} ChartKind
 */

/** Room for the title of a chart, and for the times below the last one, px. */
const TITLE_PX = 16;
const TIMES_PX = 30;
const DEGREES = 180 / Math.PI;

/** @type {ChartKind[]} How the car moves. */
export const MOTION = [
  { title: "speed m/s", height: 110, curves: speedCurves },
  { title: "steering °", height: 70, curves: steeringCurves },
];

/** @type {ChartKind[]} */
const KINDS = [
  ...MOTION,
  { title: "dwell %", height: 60, curves: dwellCurves },
  { title: "tick ms", height: 60, curves: tickCurves },
];

/** @param {Recording} recording @returns {Curve[]} */
function speedCurves({ columns }) {
  const limit = { label: "limit", x: columns.get("limit.t"), y: columns.get("limit.v"), stepped: true, quiet: true };
  return [{ label: "speed", x: columns.get("ego.t"), y: columns.get("ego.v"), filled: true }, limit];
}

/** @param {Recording} recording @returns {Curve[]} */
function steeringCurves({ columns }) {
  return [{ label: "steering", x: columns.get("plan.t"), y: columns.get("plan.steer").map((angle) => angle * DEGREES) }];
}

/** How far the timer that is next to be full has come; it falls to nothing when it fires or its guard lets go.
 * @param {Recording} recording @returns {Curve[]} */
function dwellCurves({ columns }) {
  const times = columns.get("why.t");
  const [owner, held, of] = ["why", "held", "of"].map((name) => columns.get(`dwell.${name}`));
  const filled = new Float64Array(times.length);
  for (let i = 0; i < owner.length; i += 1) {
    filled[owner[i]] = Math.max(filled[owner[i]], of[i] > 0 ? Math.min(100 * (held[i] / of[i]), 100) : 100);
  }
  return owner.length ? [{ label: "dwell", x: times, y: filled, stepped: true, filled: true }] : [];
}

/** @param {Recording} recording @returns {Curve[]} */
function tickCurves({ columns }) {
  const x = columns.get("tick.t");
  return x.length ? [{ label: "tick", x, y: columns.get("tick.ms") }] : [];
}

export class Charts {
  /**
   * @param {HTMLElement} place
   * @param {Recording[]} recordings
   * @param {TimeAxis} axis
   * @param {(t: number) => void} seek
   * @param {ChartKind[]} kinds from above to below
   */
  constructor(place, recordings, axis, seek, kinds = KINDS) {
    this.place = place;
    this.kinds = kinds;
    this.recordings = recordings;
    this.axis = axis;
    this.seek = seek;
    /** @type {uPlot[]} */
    this.plots = [];
    this.shape = "";
    this.build();
  }

  /** @returns {{kind: ChartKind, curves: Curve[][]}[]} those that there is anything of, by run */
  there() {
    const wanted = this.kinds.map((kind) => ({ kind, curves: this.recordings.map((each) => kind.curves(each)) }));
    return wanted.filter(({ curves }) => curves.some((each) => each.some((curve) => curve.x.length)));
  }

  /** What has come since; a curve that is the first of its kind needs a chart of its own. */
  update() {
    const there = this.there();
    const shape = shapeOf(there);
    if (shape !== this.shape) {
      this.build();
      return;
    }
    there.forEach(({ curves }, i) => this.plots[i].setData(tableOf(curves), false));
  }

  /** Anew, as after a change of colours. */
  build() {
    for (const plot of this.plots) {
      plot.destroy();
    }
    const there = this.there();
    this.shape = shapeOf(there);
    this.plots = there.map(({ kind, curves }, i) => this.plot(kind, curves, i === there.length - 1));
    this.show();
  }

  /** @param {ChartKind} kind @param {Curve[][]} curves by run @param {boolean} last whether it has the axis of time
   * @returns {uPlot} */
  plot(kind, curves, last) {
    const colours = palette();
    const flat = curves.flatMap((each, run) => each.filter((curve) => curve.x.length).map((curve) => ({ curve, run })));
    const grid = { stroke: colours.grid, width: 1 };
    const letters = "11px system-ui, sans-serif";
    const plot = new uPlot(
      {
        width: this.axis.width,
        height: kind.height + (last ? TIMES_PX : 0),
        padding: [6, RIGHT, last ? 0 : 4, 0],
        legend: { show: false },
        cursor: { y: false, drag: { x: true, y: false, setScale: false }, points: { show: false }, sync: { key: "film", filters: { pub: hovers } } },
        scales: { x: { time: false }, y: { range: (_, low, high) => spread(low ?? 0, high ?? 1) } },
        series: [{}, ...flat.map(({ curve, run }) => series(curve, run))],
        axes: [
          { show: last, size: TIMES_PX, stroke: colours.faint, font: letters, grid, ticks: grid, values: (_, all) => all.map(clockText) },
          { size: () => this.axis.gutter - TITLE_PX, stroke: colours.faint, font: letters, grid, ticks: { show: false },
            label: kind.title, labelSize: TITLE_PX, labelFont: letters, space: 24 },
        ],
        hooks: { setSelect: [(each) => this.selected(each)] },
      },
      tableOf(curves),
      this.place,
    ); // prettier-ignore
    plot.over.addEventListener("click", (event) => {
      if (!event.shiftKey) {
        this.seek(plot.posToVal(event.offsetX, "x"));
      }
    });
    plot.over.addEventListener("dblclick", () => this.axis.show(NaN, NaN));
    return plot;
  }

  /** @param {uPlot} plot a stretch of it was marked */
  selected(plot) {
    const { left, width } = plot.select;
    if (width > 6) {
      this.axis.show(plot.posToVal(left, "x"), plot.posToVal(left + width, "x"));
      plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
    }
  }

  /** The stretch of the axis, at its width. */
  show() {
    for (const plot of this.plots) {
      if (plot.width !== this.axis.width) {
        plot.setSize({ width: this.axis.width, height: plot.height });
      }
      plot.setScale("x", { min: this.axis.from, max: this.axis.to });
    }
  }
}

/** @param {Curve[][]} curves by run @returns {uPlot.AlignedData} over one axis */
function tableOf(curves) {
  const there = curves.flat().filter((curve) => curve.x.length);
  const tables = there.map((curve) => /** @type {uPlot.AlignedData} */ ([Array.from(curve.x), Array.from(curve.y)]));
  return tables.length > 1 ? uPlot.join(tables) : tables[0];
}

/** @param {{kind: ChartKind, curves: Curve[][]}[]} there @returns {string} which curves there are */
function shapeOf(there) {
  return there
    .map(({ kind, curves }) => [kind.title, ...curves.flat().map((curve) => (curve.x.length ? curve.label : ""))].join(" "))
    .join("; ");
}

/** What one chart tells the others: where the pointer is, but not that a stretch was marked.
 * @param {string} event @returns {boolean} */
function hovers(event) {
  return event === "mousemove" || event === "mouseleave";
}

/** @param {number} low @param {number} high @returns {[number, number]} with zero, and room above */
function spread(low, high) {
  const [bottom, top] = [Math.min(low, 0), Math.max(high, 0)];
  const room = 0.08 * Math.max(top - bottom, 1);
  return [bottom < 0 ? bottom - room : 0, top + room];
}

/** @param {Curve} curve @param {number} run @returns {uPlot.Series} */
function series(curve, run) {
  const colours = palette();
  const own = run === 0 ? colours.ego : colours.other;
  return {
    label: curve.label,
    stroke: curve.quiet ? colours.faint : own,
    width: curve.quiet ? 1 : 1.5,
    dash: curve.quiet ? [4, 3] : run === 0 ? [] : [7, 4],
    fill: curve.filled && run === 0 ? `${own}22` : undefined,
    spanGaps: true,
    points: { show: false },
    paths: curve.stepped ? uPlot.paths.stepped?.({ align: 1 }) : undefined,
  };
}
