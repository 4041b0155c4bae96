/** What is looked for in a map by its name: roads, junctions, signals, parking spaces, coordinates. */

/**
 * @typedef {import("#film/lanes.js").Lanes} Lanes
 * @typedef {import("#film/lanes.js").Lane} Lane
 * @typedef {{words: string, lanes: Lane[], box: [number, number, number, number]}} Found `box` x0, y0, x1, y1, m
 * @typedef {{id: string, number?: number, x: number, y: number}} Placed
 */

/** Around what has no length, m. */
const AROUND_M = 25;
const NUMBER = /^\s*\(?\s*(-?\d+(?:\.\d+)?)[\s,;]+(-?\d+(?:\.\d+)?)\s*\)?\s*$/;

/** What a word before the name means; a name alone is a road. @type {Record<string, (name: string, finder: Finder) => Found | null>} */
const KINDS = {
  road: (name, finder) => finder.road(name),
  junction: (name, finder) => finder.junction(name),
  signal: (name, finder) => finder.placed("signal", finder.signals, name),
  slot: (name, finder) => finder.placed("parking space", finder.slots, name),
};

export class Finder {
  /** @param {Lanes} lanes @param {Placed[]} signals @param {Placed[]} slots
   * @param {{x: number, y: number}} origin of the page in `map`, m */
  constructor(lanes, signals, slots, origin) {
    this.lanes = lanes;
    this.signals = signals;
    this.slots = slots;
    this.origin = origin;
  }

  /** @param {string} query @returns {Found | null} */
  find(query) {
    const point = NUMBER.exec(query);
    if (point) {
      return around("the point", Number(point[1]) - this.origin.x, Number(point[2]) - this.origin.y);
    }
    const [, kind, name] = /^\s*(?:([a-z]+)\s+)?(.*?)\s*$/i.exec(query) ?? [];
    const wanted = kind ? KINDS[kind.toLowerCase()] : KINDS["road"];
    return name && wanted ? wanted(name, this) : null;
  }

  /** @param {string} name @returns {Found | null} */
  road(name) {
    const lanes = this.lanes.all.filter((lane) => lane.road === name);
    return lanes.length ? { words: `road ${name}: ${counted(lanes)}`, lanes, box: this.lanes.bounds(lanes) } : null;
  }

  /** @param {string} name @returns {Found | null} */
  junction(name) {
    const lanes = this.lanes.all.filter((lane) => lane.junction === name && name !== "");
    return lanes.length ? { words: `junction ${name}: ${counted(lanes)}`, lanes, box: this.lanes.bounds(lanes) } : null;
  }

  /** @param {string} kind @param {Placed[]} all @param {string} name @returns {Found | null} */
  placed(kind, all, name) {
    const found = all.find(({ id, number }) => id === name || String(number) === name);
    return found ? around(`${kind} ${found.id}`, found.x, found.y) : null;
  }
}

/** @param {Lane[]} lanes @returns {string} */
function counted(lanes) {
  const driving = lanes.filter(({ rank }) => rank === 0).length;
  return `${driving} driving lane${driving === 1 ? "" : "s"} of ${lanes.length}`;
}

/** @param {string} words @param {number} x @param {number} y @returns {Found} */
function around(words, x, y) {
  return { words, lanes: [], box: [x - AROUND_M, y - AROUND_M, x + AROUND_M, y + AROUND_M] };
}
