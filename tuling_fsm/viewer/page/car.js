/** The car from above: its outline, its wheels, its body. */

import { at, pen } from "#film/brush.js";
import { palette } from "#film/palette.js";

/**
 * @typedef {import("#film/brush.js").Surface} Surface
 * @typedef {{wheelbase: number, front_overhang: number, rear_overhang: number, width: number}} VehicleShape m
 */

/** The outline as a path; the origin is the middle of the rear axle. @param {Surface} surface
 * @param {VehicleShape} car */
export function outline({ ink }, car) {
  const length = car.front_overhang + car.wheelbase + car.rear_overhang;
  ink.beginPath();
  ink.roundRect(-car.rear_overhang, -car.width / 2, length, car.width, car.width * 0.22);
}

/** @param {Surface} surface @param {VehicleShape} car @param {number} steer of the front wheels, rad */
export function wheels(surface, car, steer) {
  const { ink } = surface;
  ink.fillStyle = "#15181c";
  for (const [x, angle] of [[0, 0], [car.wheelbase, steer]]) {
    for (const side of [-1, 1]) {
      at(surface, x, side * (car.width / 2 - 0.08), angle, () => ink.fillRect(-0.36, -0.16, 0.72, 0.32));
    }
  }
} // prettier-ignore

/** With the origin at the middle of the rear axle and x ahead. @param {Surface} surface @param {VehicleShape} car
 * @param {number} steer rad @param {string} colour @param {number} alpha */
export function body(surface, car, steer, colour, alpha) {
  const { ink } = surface;
  const colours = palette();
  wheels(surface, car, steer);
  outline(surface, car);
  ink.fillStyle = colour;
  ink.globalAlpha = alpha;
  ink.fill();
  pen(surface, colours.egoEdge, 0.06, 1);
  ink.stroke();
  ink.fillStyle = colours.glass;
  ink.fillRect(car.wheelbase * 0.62, -car.width * 0.39, 0.55, car.width * 0.78);
  ink.fillRect(-0.35, -car.width * 0.36, 0.4, car.width * 0.72);
  ink.globalAlpha = 1;
}
