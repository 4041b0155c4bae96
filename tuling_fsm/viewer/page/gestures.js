/** A canvas is dragged, wheeled and pinched: its camera moves. */

/** A pointer that moves less is held still: it clicks, px. */
const STILL_PX = 4;

export class Gestures {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {import("#film/camera.js").Camera} camera
   * @param {() => void} changed called when something has to be drawn anew
   * @param {(x: number, y: number) => void} [clicked] told of a place, m, at which a pointer was set down and lifted
   */
  constructor(canvas, camera, changed, clicked) {
    this.canvas = canvas;
    this.camera = camera;
    this.changed = changed;
    this.clicked = clicked;
    /** @type {Map<number, PointerEvent>} */
    this.pointers = new Map();
    /** How far the pointers have gone since the first was set down, px. */
    this.gone = 0;
    this.listen();
  }

  listen() {
    const { canvas, camera, pointers } = this;
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      camera.zoom(Math.exp(-event.deltaY * 0.0015), event.offsetX, event.offsetY);
      this.changed();
    }, { passive: false }); // prettier-ignore
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this.gone = pointers.size ? Infinity : 0;
      pointers.set(event.pointerId, event);
    });
    canvas.addEventListener("pointercancel", (event) => pointers.delete(event.pointerId));
    canvas.addEventListener("pointerup", (event) => {
      pointers.delete(event.pointerId);
      if (this.gone < STILL_PX) {
        this.clicked?.(...camera.toMap(event.offsetX, event.offsetY));
      }
    });
    canvas.addEventListener("pointermove", (event) => this.dragged(event));
  }

  /** @param {PointerEvent} event */
  dragged(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) {
      return;
    }
    const other = [...this.pointers.values()].find((each) => each.pointerId !== event.pointerId);
    if (other) {
      const apart = (/** @type {PointerEvent} */ each) => Math.hypot(each.offsetX - other.offsetX, each.offsetY - other.offsetY);
      this.camera.zoom(apart(event) / Math.max(apart(before), 1), other.offsetX, other.offsetY);
    } else {
      this.gone = Math.max(this.gone, Math.hypot(event.offsetX - before.offsetX, event.offsetY - before.offsetY));
      if (this.clicked && this.gone < STILL_PX) {
        return;
      }
      this.camera.pan(event.offsetX - before.offsetX, event.offsetY - before.offsetY);
    }
    this.pointers.set(event.pointerId, event);
    this.changed();
  }
}
