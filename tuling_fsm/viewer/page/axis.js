/** The stretch of time that all charts show, and where on the screen a moment of it is. */

/** Room for names left of the charts, and beyond their right end, px. */
const GUTTER = 132;
const NARROW_GUTTER = 64;
export const RIGHT = 14;
const SHORTEST_S = 0.5;

export class TimeAxis {
  /** @param {number} begin s @param {number} end s */
  constructor(begin, end) {
    this.begin = begin;
    this.end = Math.max(end, begin + SHORTEST_S);
    this.from = this.begin;
    this.to = this.end;
    this.width = 1000;
    /** @type {(() => void)[]} */
    this.listeners = [];
  }

  get gutter() {
    return this.width < 640 ? NARROW_GUTTER : GUTTER;
  }

  /** @param {() => void} listener */
  onChange(listener) {
    this.listeners.push(listener);
  }

  /** @param {number} from s @param {number} to s; all of it if that is no stretch */
  show(from, to) {
    const whole = !(to - from >= SHORTEST_S);
    this.from = whole ? this.begin : Math.max(from, this.begin);
    this.to = whole ? this.end : Math.min(to, this.end);
    for (const listener of this.listeners) {
      listener();
    }
  }

  /** Time that has come; all of it stays in view if all of it was. @param {number} end s */
  extend(end) {
    const whole = this.from === this.begin && this.to === this.end;
    this.end = Math.max(this.end, end);
    if (whole) {
      this.to = this.end;
    }
  }

  /** @param {number} t moves on by a whole stretch when it is not in this one */
  keepInView(t) {
    const length = this.to - this.from;
    if (t < this.from || t > this.to) {
      const from = Math.min(Math.max(t - 0.1 * length, this.begin), this.end - length);
      this.show(from, from + length);
    }
  }

  /** @param {number} t @returns {number} px from the left */
  pixel(t) {
    return this.gutter + ((t - this.from) / (this.to - this.from)) * (this.width - this.gutter - RIGHT);
  }

  /** @param {number} px @returns {number} s */
  time(px) {
    return this.from + ((px - this.gutter) / (this.width - this.gutter - RIGHT)) * (this.to - this.from);
  }
}
