/** The time that is shown, and how it goes on. */

export const SPEEDS = [0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32];

/** Behind the newest by this much of the browser's time, s; nearer than near, or farther than far, is a step. */
const LAG_S = 0.15;
const NEAR_S = 0.002;
const FAR_S = 10;

export class Clock {
  /** @param {number} begin s @param {number} end s */
  constructor(begin, end) {
    this.begin = begin;
    this.end = end;
    this.t = begin;
    this.speed = 1;
    this.playing = false;
    /** Whether the end moves on, and whether the time shown goes with it. */
    this.open = false;
    this.atEdge = false;
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

  /** What has come since the drive was opened. @param {number} end s */
  extend(end) {
    this.end = Math.max(this.end, end);
  }

  /** With what happens now. */
  goLive() {
    if (this.open) {
      this.playing = false;
      this.atEdge = true;
      this.last = null;
      this.tell();
    }
  }

  /** Nothing more comes. */
  close() {
    this.open = false;
    if (this.atEdge) {
      this.seek(this.end);
    }
    this.tell();
  }

  /** @param {number} t a moment; the next one that there is, if it is before the beginning or after the end */
  seek(t) {
    if (Number.isFinite(t)) {
      this.atEdge = false;
      this.t = Math.min(Math.max(t, this.begin), this.end);
      this.tell();
    }
  }

  /** @param {boolean} playing */
  play(playing) {
    if (playing && this.t >= this.end && !this.open) {
      this.t = this.begin;
    }
    this.atEdge = false;
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
    if (!this.playing && !this.atEdge) {
      return;
    }
    const passed = this.last === null ? 0 : (milliseconds - this.last) / 1000;
    this.last = milliseconds;
    if (this.atEdge) {
      this.approach(passed);
    } else if (this.t + passed * this.speed < this.end) {
      this.seek(this.t + passed * this.speed);
    } else {
      this.playing = false;
      this.seek(this.end);
      this.goLive();
    }
  }

  /** Patches come at once, but the car goes evenly: what is shown lags by a fraction of a second.
   * @param {number} passed s of the browser's clock */
  approach(passed) {
    const left = this.end - this.t;
    if (left > 0) {
      this.t = left < NEAR_S || left > FAR_S ? this.end : this.t + left * (1 - Math.exp(-passed / LAG_S));
      this.tell();
    }
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
