/** How lines, shapes and words are put on a canvas whose unit is the metre. */

import { palette } from "#film/palette.js";

/**
 * @typedef {{ink: CanvasRenderingContext2D, camera: import("#film/camera.js").Camera, ratio: number}} Surface
 * `ratio` pixels of the device a pixel of CSS
 */

/** @param {Surface} shot @param {string} colour @param {number} metres @param {number} least px */
export function pen({ ink, camera }, colour, metres, least) {
  ink.strokeStyle = colour;
  ink.lineWidth = Math.max(metres, least / camera.scale);
  ink.lineJoin = "round";
}

/** @param {CanvasRenderingContext2D} ink @param {number[]} xy x and y in turn */
export function line(ink, xy) {
  ink.beginPath();
  for (let i = 0; i < xy.length; i += 2) {
    ink.lineTo(xy[i], xy[i + 1]);
  }
  ink.stroke();
}

/** @param {Surface} shot @param {number} x @param {number} y @param {number} heading @param {() => void} draw with the
 * origin there and x ahead */
export function at({ ink }, x, y, heading, draw) {
  ink.save();
  ink.translate(x, y);
  ink.rotate(heading);
  draw();
  ink.restore();
}

/** Words beside a point, upright. @param {Surface} shot @param {number} x @param {number} y @param {string} words
 * @param {string} [edge] */
export function label({ ink, camera, ratio }, x, y, words, edge) {
  if (!words) {
    return;
  }
  const colours = palette();
  const [px, py] = camera.toScreen(x, y);
  ink.save();
  ink.setTransform(ratio, 0, 0, ratio, 0, 0);
  ink.font = "12px system-ui, sans-serif";
  const width = ink.measureText(words).width + 12;
  ink.fillStyle = colours.label;
  ink.beginPath();
  ink.roundRect(px + 6, py - 22, width, 20, 5);
  ink.fill();
  if (edge) {
    ink.strokeStyle = edge;
    ink.lineWidth = 1;
    ink.stroke();
  }
  ink.fillStyle = colours.labelInk;
  ink.fillText(words, px + 12, py - 8);
  ink.restore();
}
