/** States nested as the hierarchy is, what limits the car, stops and supervisors: a row each, as bands over time. */

import { lastUpTo } from "#film/columns.js";
import { codeColour, palette, stateColour } from "#film/palette.js";

/**
 * @typedef {import("#film/recording.js").Recording} Recording
 * @typedef {import("#film/recording.js").Span} Span
 * @typedef {import("#film/axis.js").TimeAxis} TimeAxis
 * @typedef {{label: string, spans: Span[], colour: (text: string) => string, times: number[]}} BandRow
 */

const ROW_PX = 20;
const GAP_PX = 3;
/** A supervisor that asks and is answered every ten seconds, of which nothing is to be learnt. */
const ROUTINE = new Set(["route_refresh"]);

/** @param {Recording} recording @returns {BandRow[]} */
function bandRows(recording) {
  const states = recording.wordSpans("state");
  const composites = merged(states.map((span) => ({ ...span, text: span.text.split("/")[0] })));
  const stops = recording.stops.map((stop) => ({ from: stop.from, to: stop.to, text: stop.code || "no reason" }));
  /** @type {[string, Span[], (text: string) => string][]} */
  const rows = [
    ["composite", composites, stateColour],
    ["state", states, stateColour],
    ["limited by", recording.limitSpans(), codeColour],
    ["stands", stops, codeColour],
  ];
  for (const [name, spans] of recording.supervisorSpans()) {
    if (!ROUTINE.has(name)) {
      rows.push([name.replaceAll("_", " "), spans, quietFirst(spans)]);
    }
  }
  return rows
    .filter(([, spans]) => spans.length)
    .map(([label, spans, colour]) => ({ label, spans, colour, times: spans.map((span) => span.from) }));
}

/** @param {Span[]} spans @returns {(text: string) => string} grey for the state that holds longest */
function quietFirst(spans) {
  /** @type {Map<string, number>} */
  const held = new Map();
  for (const { from, to, text } of spans) {
    held.set(text, (held.get(text) ?? 0) + to - from);
  }
  const usual = [...held].sort((a, b) => b[1] - a[1])[0]?.[0];
  return (text) => (text === usual ? codeColour("NONE") : codeColour("RED_LIGHT"));
}

/** @param {Span[]} spans @returns {Span[]} those of the same text that touch as one */
function merged(spans) {
  /** @type {Span[]} */
  const found = [];
  for (const span of spans) {
    const last = found[found.length - 1];
    if (last && last.text === span.text) {
      last.to = span.to;
    } else {
      found.push({ ...span });
    }
  }
  return found;
}

export class Bands {
  /** @param {HTMLCanvasElement} canvas @param {Recording[]} recordings @param {TimeAxis} axis */
  constructor(canvas, recordings, axis) {
    this.canvas = canvas;
    this.axis = axis;
    this.recordings = recordings;
    this.rows = this.rowsNow();
  }

  /** What has come since. */
  update() {
    this.rows = this.rowsNow();
  }

  /** @returns {BandRow[]} */
  rowsNow() {
    const { recordings } = this;
    return recordings.flatMap((recording) =>
      bandRows(recording).map((row) => (recordings.length > 1 ? { ...row, label: `${recording.name} ${row.label}` } : row)),
    );
  }

  draw() {
    const { canvas, axis, rows } = this;
    const ratio = window.devicePixelRatio || 1;
    const height = rows.length * (ROW_PX + GAP_PX) + GAP_PX;
    canvas.style.height = `${height}px`;
    canvas.width = Math.round(axis.width * ratio);
    canvas.height = Math.round(height * ratio);
    const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    ink.scale(ratio, ratio);
    ink.textBaseline = "middle";
    rows.forEach((row, number) => this.drawRow(ink, row, GAP_PX + number * (ROW_PX + GAP_PX)));
  }

  /** @param {CanvasRenderingContext2D} ink @param {BandRow} row @param {number} top px */
  drawRow(ink, row, top) {
    const { axis } = this;
    const colours = palette();
    ink.font = "12px system-ui, sans-serif";
    ink.textAlign = "right";
    ink.fillStyle = colours.faint;
    ink.fillText(row.label, axis.gutter - 10, top + ROW_PX / 2, axis.gutter - 12);
    ink.textAlign = "left";
    ink.font = "11px system-ui, sans-serif";
    for (let i = Math.max(lastUpTo(row.times, axis.from), 0); i < row.spans.length; i += 1) {
      const { from, to, text } = row.spans[i];
      if (from > axis.to) {
        break;
      }
      const left = Math.max(axis.pixel(from), axis.gutter);
      const right = Math.min(axis.pixel(to), axis.pixel(axis.to));
      if (right < axis.gutter) {
        continue;
      }
      ink.fillStyle = row.colour(text);
      ink.beginPath();
      ink.roundRect(left, top, Math.max(right - left - 1, 1), ROW_PX, Math.min(3, (right - left) / 3));
      ink.fill();
      const words = text.includes("/") ? text.split("/")[1] : text;
      if (ink.measureText(words).width < right - left - 10) {
        ink.fillStyle = "#ffffff";
        ink.fillText(words, left + 5, top + ROW_PX / 2 + 0.5);
      }
    }
  }

  /** @param {number} px @param {number} py @returns {string} what is there, in words */
  wordsAt(px, py) {
    const row = this.rows[Math.floor((py - GAP_PX) / (ROW_PX + GAP_PX))];
    const t = this.axis.time(px);
    const span = row?.spans[lastUpTo(row.times, t)];
    if (!row || !span || t > span.to) {
      return "";
    }
    return `${row.label}: ${span.text}, ${span.from.toFixed(2)} to ${span.to.toFixed(2)} s (${(span.to - span.from).toFixed(1)} s)`;
  }
}
