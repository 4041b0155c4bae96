/** A canvas with its camera: draws one run or two at a moment, and is dragged, wheeled and pinched. */

import { Camera } from "#film/camera.js";
import { LAYERS } from "#film/painter.js";

/** @typedef {import("#film/recording.js").Recording} Recording */
/** @typedef {import("#film/recording.js").EgoState} EgoState */
/** @typedef {import("#film/scenery.js").Scenery} Scenery */

export const MAP_LAYER = "map";
export const LABEL_LAYER = "labels";
const DEVICE_RATIO_MOST = 2;

export class Stage {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {Recording[]} recordings the first one is followed
   * @param {Scenery} scenery
   * @param {Set<string>} layers that are on
   * @param {() => void} changed called when something has to be drawn anew
   */
  constructor(canvas, recordings, scenery, layers, changed) {
    this.canvas = canvas;
    this.ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    this.recordings = recordings;
    this.scenery = scenery;
    this.layers = layers;
    this.changed = changed;
    this.camera = new Camera();
    this.ratio = 1;
    /** @type {Record<string, number>} how many things of each layer the last picture has */
    this.drawn = {};
    /** @type {EgoState | null} of the run that is followed, in the last picture */
    this.ego = null;
    /** @type {Map<number, PointerEvent>} */
    this.pointers = new Map();
    this.listen();
    this.resize();
  }

  resize() {
    const box = this.canvas.getBoundingClientRect();
    this.ratio = Math.min(window.devicePixelRatio || 1, DEVICE_RATIO_MOST);
    this.camera.width = Math.max(box.width, 1);
    this.camera.height = Math.max(box.height, 1);
    this.canvas.width = Math.round(this.camera.width * this.ratio);
    this.canvas.height = Math.round(this.camera.height * this.ratio);
  }

  /** @param {number} t */
  draw(t) {
    const { ink, camera, ratio, scenery } = this;
    this.ego = this.recordings[0].egoAt(t);
    if (camera.follow) {
      camera.lookAt(this.ego.x, this.ego.y, this.ego.heading);
    }
    if (this.layers.has(MAP_LAYER)) {
      this.drawn = { [MAP_LAYER]: scenery.draw(ink, camera, ratio) };
    } else {
      this.drawn = { [MAP_LAYER]: 0 };
      ink.setTransform(1, 0, 0, 1, 0, 0);
      ink.fillStyle = getComputedStyle(this.canvas).backgroundColor;
      ink.fillRect(0, 0, this.canvas.width, this.canvas.height);
    }
    camera.apply(ink, ratio);
    const labels = this.layers.has(LABEL_LAYER);
    this.drawn[LABEL_LAYER] = labels ? 1 : 0;
    for (const [name, layer] of Object.entries(LAYERS)) {
      this.drawn[name] = 0;
      for (const recording of this.layers.has(name) ? [...this.recordings].reverse() : []) {
        const first = recording === this.recordings[0];
        const shot = { ink, camera, ratio, recording, scenery, t, first, labels };
        this.drawn[name] += layer.draw(shot);
      }
    }
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
      pointers.set(event.pointerId, event);
    });
    for (const name of /** @type {const} */ (["pointerup", "pointercancel"])) {
      canvas.addEventListener(name, (event) => pointers.delete(event.pointerId));
    }
    canvas.addEventListener("pointermove", (event) => this.dragged(event));
    canvas.addEventListener("dblclick", () => {
      camera.follow = true;
      this.changed();
    });
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
      this.camera.pan(event.offsetX - before.offsetX, event.offsetY - before.offsetY);
    }
    this.pointers.set(event.pointerId, event);
    this.changed();
  }
}
