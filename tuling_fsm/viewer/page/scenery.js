/** The map: surfaces, markings by kind, crosswalks, parking spaces; kept as a picture that moves with the camera. */

import { Camera } from "#film/camera.js";
import { starts } from "#film/columns.js";
import { isDark, palette } from "#film/palette.js";

/** @typedef {{columns: import("#film/columns.js").Columns, header: Record<string, any>}} Recording */
/** @typedef {{kind: string, path: Path2D, x0: number, y0: number, x1: number, y1: number}} Tile */

const TILE_M = 150;
/** The picture is larger than what is seen by this on each side. */
const MARGIN = 0.2;

/** @type {Record<string, (colours: import("#film/palette.js").Palette) => string>} */
const FILLS = {
  driving: (colours) => colours.asphalt,
  junction: (colours) => colours.junction,
  parking: (colours) => colours.parking,
  sidewalk: (colours) => colours.walk,
  walking: (colours) => colours.walk,
  curb: (colours) => colours.walk,
  median: (colours) => colours.verge,
  bus: (colours) => colours.asphalt,
  taxi: (colours) => colours.asphalt,
  bidirectional: (colours) => colours.asphalt,
  biking: (colours) => colours.walk,
};
const NO_FILL = new Set(["none"]);

/**
 * Markings as they are painted: width (m) of the line, dashes (m), and what is left out in the middle of a double one.
 * @type {Record<string, {width: number, dash: number[], gap?: number, kerb?: boolean}>}
 */
const LINES = {
  solid: { width: 0.14, dash: [] },
  broken: { width: 0.14, dash: [3, 4.5] },
  solid_solid: { width: 0.42, dash: [], gap: 0.14 },
  solid_broken: { width: 0.42, dash: [], gap: 0.14 },
  broken_solid: { width: 0.42, dash: [], gap: 0.14 },
  curb: { width: 0.2, dash: [], kerb: true },
  boundary: { width: 0.18, dash: [], kerb: true },
};

/** Drawn in this order; kinds that are not named are surfaces, and come first. */
const ORDER = ["crosswalk", "slot", ...Object.keys(LINES), "thing"];

export class Scenery {
  /** @param {Recording[]} recordings the first one that has a map gives it */
  constructor(recordings) {
    const source = recordings.find((each) => each.header.roads);
    this.tiles = source ? tiles(source) : [];
    /** @type {{kind: string, signal: number, ends: number[]}[]} */
    this.stopLines = source?.header.roads.stop_lines ?? [];
    /** @type {{number: number, x: number, y: number}[]} */
    this.signals = source?.header.roads.signals ?? [];
    this.canvas = document.createElement("canvas");
    this.shot = new Camera();
    this.key = "";
  }

  /**
   * Draw what the camera sees.
   * @param {CanvasRenderingContext2D} ink
   * @param {Camera} camera
   * @param {number} ratio pixels of the device a pixel of CSS
   * @returns {number} how many tiles there are to be seen
   */
  draw(ink, camera, ratio) {
    const key = `${camera.scale} ${camera.width} ${camera.height} ${ratio} ${isDark()}`;
    const dx = (this.shot.x - camera.x) * camera.scale;
    const dy = (this.shot.y - camera.y) * camera.scale;
    if (key !== this.key || Math.abs(dx) > MARGIN * camera.width || Math.abs(dy) > MARGIN * camera.height) {
      this.key = key;
      this.shoot(camera, ratio);
      this.draw(ink, camera, ratio);
      return this.tiles.length;
    }
    const left = Math.round((-MARGIN * camera.width + dx) * ratio);
    const top = Math.round((-MARGIN * camera.height - dy) * ratio);
    ink.setTransform(1, 0, 0, 1, 0, 0);
    ink.drawImage(this.canvas, left, top);
    return this.tiles.length;
  }

  /** @param {Camera} camera @param {number} ratio */
  shoot(camera, ratio) {
    const grown = 1 + 2 * MARGIN;
    Object.assign(this.shot, camera, { width: camera.width * grown, height: camera.height * grown });
    this.canvas.width = Math.ceil(this.shot.width * ratio);
    this.canvas.height = Math.ceil(this.shot.height * ratio);
    const ink = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d", { alpha: false }));
    ink.fillStyle = palette().ground;
    ink.fillRect(0, 0, this.canvas.width, this.canvas.height);
    this.shot.apply(ink, ratio);
    const [x0, y0] = this.shot.toMap(0, this.shot.height);
    const [x1, y1] = this.shot.toMap(this.shot.width, 0);
    for (const tile of this.tiles) {
      if (tile.x0 <= x1 && tile.x1 >= x0 && tile.y0 <= y1 && tile.y1 >= y0) {
        paint(ink, tile, this.shot.scale);
      }
    }
  }
}

/** @param {CanvasRenderingContext2D} ink @param {Tile} tile @param {number} scale */
function paint(ink, tile, scale) {
  const colours = palette();
  const line = LINES[tile.kind];
  if (line) {
    const least = (line.kerb ? 0.8 : 1.1) / scale;
    stroke(ink, tile.path, line.kerb ? colours.kerb : colours.line, Math.max(line.width, least), line.dash);
    if (line.gap && line.gap * scale > 1) {
      stroke(ink, tile.path, colours.asphalt, line.gap, []);
    }
    return;
  }
  if (tile.kind === "crosswalk") {
    ink.fillStyle = stripes(ink, colours.crosswalk);
    ink.fill(tile.path);
  } else if (tile.kind === "slot") {
    stroke(ink, tile.path, colours.slot, Math.max(0.1, 1 / scale), []);
  } else if (tile.kind === "thing") {
    ink.fillStyle = colours.thing;
    ink.globalAlpha = 0.35;
    ink.fill(tile.path);
    ink.globalAlpha = 1;
    stroke(ink, tile.path, colours.thing, Math.max(0.12, 1 / scale), []);
  } else if (!NO_FILL.has(tile.kind)) {
    ink.fillStyle = (FILLS[tile.kind] ?? ((each) => each.verge))(colours);
    ink.fill(tile.path);
    stroke(ink, tile.path, ink.fillStyle, 0.8 / scale, []); // Without it the ground shows between two lanes.
  }
}

/** @param {CanvasRenderingContext2D} ink @param {Path2D} path @param {string} colour @param {number} width m
 * @param {number[]} dash m */
function stroke(ink, path, colour, width, dash) {
  ink.strokeStyle = colour;
  ink.lineWidth = width;
  ink.setLineDash(dash);
  ink.stroke(path);
  ink.setLineDash([]);
}

/** @type {Map<string, HTMLCanvasElement>} */
const patterns = new Map();

/** Stripes of half a metre, whichever way the crosswalk lies: a pattern in metres of the map.
 * @param {CanvasRenderingContext2D} ink @param {string} colour @returns {CanvasPattern | string} */
function stripes(ink, colour) {
  let cell = patterns.get(colour);
  if (!cell) {
    cell = document.createElement("canvas");
    cell.width = cell.height = 16;
    const own = /** @type {CanvasRenderingContext2D} */ (cell.getContext("2d"));
    own.fillStyle = colour;
    own.beginPath();
    own.moveTo(0, 0);
    own.lineTo(8, 0);
    own.lineTo(0, 8);
    own.moveTo(16, 0);
    own.lineTo(16, 8);
    own.lineTo(8, 16);
    own.lineTo(0, 16);
    own.fill();
    patterns.set(colour, cell);
  }
  const pattern = ink.createPattern(cell, "repeat");
  pattern?.setTransform(new DOMMatrix([1 / 12, 0, 0, 1 / 12, 0, 0]));
  return pattern ?? colour;
}

/** @param {Recording} recording @returns {Tile[]} what is drawn first comes first */
function tiles(recording) {
  const { columns, header } = recording;
  const [kind, x, y] = ["kind", "x", "y"].map((name) => columns.get(`road.${name}`));
  const begin = starts(columns.get("road.n"));
  /** @type {Map<string, Tile>} */
  const found = new Map();
  for (let shape = 0; shape < kind.length; shape += 1) {
    const name = header.roads.kinds[kind[shape]];
    const first = begin[shape];
    // What lies on top of another has to stay so: surfaces keep the order in which they came, kind by kind.
    const key = `${name} ${Math.floor(x[first] / TILE_M)} ${Math.floor(y[first] / TILE_M)}`;
    const tile = found.get(key) ?? { kind: name, path: new Path2D(), x0: Infinity, y0: Infinity, x1: -Infinity, y1: -Infinity };
    found.set(key, tile);
    for (let i = first; i < begin[shape + 1]; i += 1) {
      tile.path[i === first ? "moveTo" : "lineTo"](x[i], y[i]);
      tile.x0 = Math.min(tile.x0, x[i]);
      tile.x1 = Math.max(tile.x1, x[i]);
      tile.y0 = Math.min(tile.y0, y[i]);
      tile.y1 = Math.max(tile.y1, y[i]);
    }
    if (!LINES[name]) {
      tile.path.closePath();
    }
  }
  const place = (/** @type {Tile} */ tile) => ORDER.indexOf(tile.kind);
  return [...found.values()].sort((a, b) => place(a) - place(b));
}
