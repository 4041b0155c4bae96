/** The row below a film: play and pause, the time, the slider, and how fast it plays. */

import { clockText, SPEEDS } from "#film/clock.js";
import { part } from "#film/dom.js";

export class Transport {
  /** @param {import("#film/clock.js").Clock} clock */
  constructor(clock) {
    this.clock = clock;
    this.slider = /** @type {HTMLInputElement} */ (part("slider"));
    this.speed = /** @type {HTMLSelectElement} */ (part("speed"));
    const { slider, speed } = this;
    Object.assign(slider, { min: clock.begin, max: clock.end, step: "any", value: clock.t });
    slider.addEventListener("input", () => clock.seek(slider.valueAsNumber));
    speed.append(...SPEEDS.map((each) => new Option(`${each}×`, String(each))));
    speed.addEventListener("change", () => clock.faster(SPEEDS.indexOf(Number(speed.value)) - SPEEDS.indexOf(clock.speed)));
    part("play").addEventListener("click", () => clock.play(!clock.playing));
  }

  /** What the clock says. */
  show() {
    const { clock } = this;
    part("clock").textContent = `${clockText(clock.t)} / ${clockText(clock.end)}`;
    part("play").textContent = clock.playing ? "❚❚" : "▶";
    part("play").setAttribute("aria-label", clock.playing ? "pause" : "play");
    this.speed.value = String(clock.speed);
    this.slider.value = String(clock.t);
  }
}
