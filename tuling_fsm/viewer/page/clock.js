/** The time that is shown, and how it goes on. */

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32];

export class Clock {
  /** @param {number} begin s @param {number} end s */
  constructor(begin, end) {
    this.begin = begin;
    this.end = end;
    this.t = begin;
    this.speed = 1;
    this.playing = false;
    /** @type {(() => void)[]} */
    this.listeners = [];
    /** @type {number | null} */
    this.last = null;
  }

  /** @param {() => void} listener told of every change */
  onChange(listener) {
    this.listeners.push(listener);
  }

  tell() {
    for (const listener of this.listeners) {
      listener();
    }
  }

  /** @param {number} t a moment; the next one that there is, if it is before the beginning or after the end */
  seek(t) {
    if (Number.isFinite(t)) {
      this.t = Math.min(Math.max(t, this.begin), this.end);
      this.tell();
    }
  }

  /** @param {boolean} playing */
  play(playing) {
    if (playing && this.t >= this.end) {
      this.t = this.begin;
    }
    this.playing = playing;
    this.last = null;
    this.tell();
  }

  /** @param {number} steps up or down among `SPEEDS` */
  faster(steps) {
    const now = SPEEDS.indexOf(this.speed);
    this.speed = SPEEDS[Math.min(Math.max(now + steps, 0), SPEEDS.length - 1)];
    this.tell();
  }

  /** @param {number} milliseconds of the browser's own clock, at a frame */
  frame(milliseconds) {
    if (!this.playing) {
      return;
    }
    const passed = this.last === null ? 0 : (milliseconds - this.last) / 1000;
    this.last = milliseconds;
    if (this.t + passed * this.speed >= this.end) {
      this.playing = false;
    }
    this.seek(this.t + passed * this.speed);
  }
}

/** @param {number} t s @returns {string} `1:02:03.4` */
export function clockText(t) {
  const tenths = Math.round(Math.abs(t) * 10);
  const minutes = Math.floor(tenths / 600);
  const seconds = ((tenths % 600) / 10).toFixed(1).padStart(4, "0");
  const hours = Math.floor(minutes / 60);
  const long = hours ? `${hours}:${String(minutes % 60).padStart(2, "0")}:${seconds}` : `${minutes}:${seconds}`;
  return t < 0 ? `-${long}` : long;
}
