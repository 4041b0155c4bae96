/** A canvas with its camera: draws one run or two at a moment. */

import { Camera } from "#film/camera.js";
import { fit } from "#film/dom.js";
import { Gestures } from "#film/gestures.js";
import { LAYERS } from "#film/painter.js";

/** @typedef {import("#film/recording.js").Recording} Recording */
/** @typedef {import("#film/recording.js").EgoState} EgoState */
/** @typedef {import("#film/scenery.js").Scenery} Scenery */

export const MAP_LAYER = "map";
export const LABEL_LAYER = "labels";

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
    this.gestures = new Gestures(canvas, this.camera, changed);
    canvas.addEventListener("dblclick", () => {
      this.camera.follow = true;
      changed();
    });
    this.resize();
  }

  resize() {
    this.ratio = fit(this.canvas, this.camera);
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
}
