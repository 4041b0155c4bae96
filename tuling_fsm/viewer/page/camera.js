/** From metres of `map`, north up, to pixels of a canvas. */

const LEAST_SCALE = 0.3;
const MOST_SCALE = 80;
/** Of the canvas, what a box that is shown takes. */
const ROOM = 0.9;

export class Camera {
  constructor() {
    this.x = 0;
    this.y = 0;
    /** Pixels of CSS a metre. */
    this.scale = 9;
    this.least = LEAST_SCALE;
    this.follow = true;
    this.width = 1;
    this.height = 1;
  }

  /** @param {number} x @param {number} y @returns {[number, number]} px */
  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scale, this.height / 2 - (y - this.y) * this.scale];
  }

  /** @param {number} px @param {number} py @returns {[number, number]} m */
  toMap(px, py) {
    return [this.x + (px - this.width / 2) / this.scale, this.y - (py - this.height / 2) / this.scale];
  }

  /** All of a box (m) with some room around it. @param {number} x0 @param {number} y0 @param {number} x1
   * @param {number} y1 @param {number} [most] px a metre */
  show(x0, y0, x1, y1, most = MOST_SCALE) {
    const scale = Math.min(this.width / (x1 - x0 + 1e-3), this.height / (y1 - y0 + 1e-3)) * ROOM;
    this.follow = false;
    this.x = (x0 + x1) / 2;
    this.y = (y0 + y1) / 2;
    this.scale = Math.min(Math.max(scale, this.least), most);
  }

  /** @param {number} dx px @param {number} dy px: the map goes with the pointer */
  pan(dx, dy) {
    this.follow = false;
    this.x -= dx / this.scale;
    this.y += dy / this.scale;
  }

  /** @param {number} factor @param {number} [px] the point that stays where it is @param {number} [py] */
  zoom(factor, px = this.width / 2, py = this.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, this.least), MOST_SCALE);
    const [x, y] = this.follow ? [this.x, this.y] : this.toMap(px, py);
    this.x = x + ((this.x - x) * this.scale) / scale;
    this.y = y + ((this.y - y) * this.scale) / scale;
    this.scale = scale;
  }

  /** @param {number} x @param {number} y @param {number} heading rad; what is ahead gets more room */
  lookAt(x, y, heading) {
    const ahead = (0.14 * Math.min(this.width, this.height)) / this.scale;
    this.x = x + ahead * Math.cos(heading);
    this.y = y + ahead * Math.sin(heading);
  }

  /** @param {CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D} ink @param {number} ratio pixels of the
   * device a pixel of CSS: afterwards metres are drawn */
  apply(ink, ratio) {
    const k = this.scale * ratio;
    ink.setTransform(k, 0, 0, -k, (this.width / 2) * ratio - this.x * k, (this.height / 2) * ratio + this.y * k);
  }
}
