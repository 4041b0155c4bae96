/** Infractions, stops and changes of state: as marks over the slider, and as a list; a click goes there. */

import { clockText } from "#film/clock.js";
import { element } from "#film/dom.js";
import { codeColour, palette, stateColour } from "#film/palette.js";

/**
 * @typedef {import("#film/recording.js").Recording} Recording
 * @typedef {{t: number, to: number, kind: "infraction" | "stop" | "transition", words: string, more: string,
 *   colour: string}} FilmEvent
 */

/** Clauses of what happens every few seconds. */
const ROUTINE = new Set(["RRF-1"]);
const NEAR_PX = 7;

/** @param {Recording[]} recordings @returns {FilmEvent[]} by time */
export function eventsOf(recordings) {
  const found = recordings.flatMap((recording) => {
    const who = recordings.length > 1 ? `${recording.name}: ` : "";
    return [...infractions(recording, who), ...stops(recording, who), ...transitions(recording, who)];
  });
  return found.sort((a, b) => a.t - b.t);
}

/** @param {Recording} recording @param {string} who @returns {FilmEvent[]} */
function infractions({ infractions: all }, who) {
  return all.map(({ t, kind, detail, at_fault: fault }) => ({
    t, to: t, kind: "infraction", words: `${who}${kind.replaceAll("_", " ")}${fault ? ", at fault" : ""}`, more: detail,
    colour: fault ? "#e03131" : "#f08c00",
  })); // prettier-ignore
}

/** @param {Recording} recording @param {string} who @returns {FilmEvent[]} */
function stops({ stops: all }, who) {
  return all.map(({ from, to, code, words }) => ({
    t: from, to, kind: "stop", words: `${who}stands for ${(to - from).toFixed(1)} s`, more: words, colour: codeColour(code),
  })); // prettier-ignore
}

/** @param {Recording} recording @param {string} who @returns {FilmEvent[]} */
function transitions({ changes }, who) {
  return changes
    .filter((change) => !ROUTINE.has(change.clause))
    .map(({ t, from, to, clause, guard }) => ({
      t, to: t, kind: "transition", words: `${who}${from} → ${to}`, more: clause ? `${clause}: ${guard}` : "",
      colour: stateColour(to),
    })); // prettier-ignore
}

export class EventMarks {
  /** @param {HTMLCanvasElement} canvas @param {FilmEvent[]} events @param {number} begin @param {number} end
   * @param {(t: number) => void} seek */
  constructor(canvas, events, begin, end, seek) {
    this.canvas = canvas;
    this.events = events;
    this.begin = begin;
    this.length = 0;
    this.update(events, end);
    canvas.addEventListener("click", (event) => {
      const near = this.near(event.offsetX);
      seek(near ? near.t : this.begin + (event.offsetX / canvas.clientWidth) * this.length);
    });
    canvas.addEventListener("pointermove", (event) => {
      const near = this.near(event.offsetX);
      canvas.title = near ? `${clockText(near.t)}  ${near.words}. ${near.more}` : "";
    });
  }

  /** What has come since. @param {FilmEvent[]} events @param {number} end s */
  update(events, end) {
    this.events = events;
    this.length = Math.max(end - this.begin, 1e-3);
  }

  /** @param {number} t @returns {number} px */
  pixel(t) {
    return ((t - this.begin) / this.length) * this.canvas.clientWidth;
  }

  /** @param {number} px @returns {FilmEvent | undefined} infractions first, then stops */
  near(px) {
    const order = ["infraction", "stop", "transition"];
    const close = this.events.filter((event) => Math.abs(this.pixel(event.t) - px) < NEAR_PX);
    const apart = (/** @type {FilmEvent} */ event) => Math.abs(this.pixel(event.t) - px);
    return close.sort((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind) || apart(a) - apart(b))[0];
  }

  draw() {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.round(canvas.clientWidth * ratio);
    canvas.height = Math.round(canvas.clientHeight * ratio);
    const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    ink.scale(ratio, ratio);
    const height = canvas.clientHeight;
    for (const event of this.events) {
      const x = this.pixel(event.t);
      ink.fillStyle = event.colour;
      if (event.kind === "stop") {
        ink.globalAlpha = 0.75;
        ink.fillRect(x, height - 8, Math.max(this.pixel(event.to) - x, 2), 6);
      } else if (event.kind === "transition") {
        ink.globalAlpha = 0.8;
        ink.fillRect(x - 0.75, 2, 1.5, height - 12);
      } else {
        diamond(ink, x, height / 2 - 2);
      }
      ink.globalAlpha = 1;
    }
  }
}

/** @param {CanvasRenderingContext2D} ink @param {number} x @param {number} y */
function diamond(ink, x, y) {
  ink.beginPath();
  ink.moveTo(x, y - 7);
  ink.lineTo(x + 6, y);
  ink.lineTo(x, y + 7);
  ink.lineTo(x - 6, y);
  ink.closePath();
  ink.fill();
  ink.strokeStyle = palette().label;
  ink.stroke();
}

/** @param {HTMLElement} place @param {FilmEvent[]} events @param {(t: number) => void} seek */
export function listEvents(place, events, seek) {
  place.replaceChildren(
    ...events.map((event) => {
      const button = element("button", `event ${event.kind}`);
      button.dataset["t"] = String(event.t);
      const dot = element("i");
      dot.style.background = event.colour;
      button.append(dot, element("time", "", clockText(event.t)), element("span", "", event.words), element("small", "", event.more));
      button.addEventListener("click", () => seek(event.t));
      return button;
    }),
  );
  if (!events.length) {
    place.append(element("p", "quiet", "none"));
  }
}
