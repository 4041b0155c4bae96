/** Where boxes and arrows of the chart are, in px: composites in columns, the one that most rows touch in the middle. */

import { SEPARATOR } from "#machine/tables.js";

/**
 * @typedef {{columns: number, leaf: number, side: number, gap: number, margin: number}} Room
 * @typedef {{machine: string, path: string, name: string, x: number, y: number, width: number, height: number,
 *   column: number}} Box
 * @typedef {{machine: string, source: string, dest: string, x1: number, y1: number, x2: number, y2: number,
 *   curve: string, heading: 1 | -1}} Arrow `heading` is the way in which it meets its end
 * @typedef {{width: number, height: number, groups: Box[], leaves: Box[], arrows: Arrow[]}} Layout
 * @typedef {import("#machine/tables.js").MachineTable} MachineTable
 * @typedef {{machine: MachineTable, path: string, name: string, leaves: string[]}} Group a composite or a supervisor
 */

/** @type {Room} */
export const WIDE = { columns: 3, leaf: 148, side: 46, gap: 64, margin: 30 };
/** @type {Room} */
export const NARROW = { columns: 2, leaf: 116, side: 22, gap: 14, margin: 14 };

const LEAF_HEIGHT = 32;
const LEAF_GAP = 13;
const TITLE = 30;
const FOOT = 14;
const BETWEEN = 22;
/** The vertical stretch of a side over which ends of arrows are spread. */
const PORTS = 0.86;

/** @param {MachineTable} machine @param {boolean} supervises @returns {Group[]} */
function groupsOf(machine, supervises) {
  if (supervises) {
    return [{ machine, path: "", name: machine.name, leaves: machine.leaves.map(({ path }) => path) }];
  }
  return [...machine.states.values()]
    .filter((state) => state.initial !== undefined && !state.path.includes(SEPARATOR))
    .map(({ path }) => {
      const leaves = machine.leaves.map((leaf) => leaf.path).filter((leaf) => leaf.startsWith(path + SEPARATOR));
      return { machine, path, name: path, leaves };
    });
}

/** @param {Group} group @returns {number} px */
function heightOf({ leaves }) {
  return TITLE + leaves.length * LEAF_HEIGHT + (leaves.length - 1) * LEAF_GAP + FOOT;
}

/** @param {Group} group @returns {number} rows that lead into it or out of it */
function rowsAcross({ machine, path }) {
  const inside = (/** @type {string} */ state) => state.split(SEPARATOR)[0] === path;
  return machine.rows.filter(({ source, dest }) => inside(source) !== inside(dest)).length;
}

/**
 * The hub has the middle column, the first composite the first; of the others each, the largest first, goes to the
 * column that is shortest. Inside a column they stay in the order of the table.
 *
 * @param {Group[]} composites
 * @param {Group[]} supervisors below them
 * @param {number} count
 * @returns {Group[][]} by column
 */
export function columnsOf(composites, supervisors, count) {
  const heights = new Array(count).fill(0);
  /** @type {Map<Group, number>} */
  const column = new Map();
  const put = (/** @type {Group} */ group, /** @type {number} */ at) => {
    column.set(group, at);
    heights[at] += heightOf(group) + BETWEEN;
  };
  const byRows = [...composites].sort((a, b) => rowsAcross(b) - rowsAcross(a));
  put(composites[0], 0);
  if (byRows[0] !== composites[0]) {
    put(byRows[0], Math.floor(count / 2));
    heights[Math.floor(count / 2)] += count > 2 ? Infinity : 0;
  }
  const place = (/** @type {Group[]} */ groups) => {
    for (const group of groups.filter((each) => !column.has(each)).sort((a, b) => heightOf(b) - heightOf(a))) {
      put(group, heights.indexOf(Math.min(...heights)));
    }
  };
  place(composites);
  const all = [...composites, ...supervisors];
  heights.forEach((_, i) => {
    const inside = composites.filter((group) => column.get(group) === i);
    heights[i] = inside.reduce((sum, group) => sum + heightOf(group) + BETWEEN, 0);
  });
  place(supervisors);
  return heights.map((_, i) => all.filter((group) => column.get(group) === i));
}

/** @param {MachineTable[]} machines the hierarchy, then its supervisors @param {Room} room @returns {Layout} */
export function layoutOf([machine, ...beside], room) {
  const supervisors = beside.flatMap((each) => groupsOf(each, true));
  const columns = columnsOf(groupsOf(machine, false), supervisors, room.columns);
  /** @type {Box[]} */
  const groups = [];
  /** @type {Box[]} */
  const leaves = [];
  const width = room.leaf + 2 * room.side;
  columns.forEach((column, i) => {
    const x = room.margin + i * (width + room.gap);
    let y = 8;
    for (const group of column) {
      const common = { machine: group.machine.name, column: i };
      groups.push({ ...common, path: group.path, name: group.name, x, y, width, height: heightOf(group) });
      group.leaves.forEach((path, k) => {
        const name = path.split(SEPARATOR).slice(-1)[0];
        const top = y + TITLE + k * (LEAF_HEIGHT + LEAF_GAP);
        leaves.push({ ...common, path, name, x: x + room.side, y: top, width: room.leaf, height: LEAF_HEIGHT });
      });
      y += heightOf(group) + BETWEEN;
    }
  });
  const height = Math.max(...groups.map((box) => box.y + box.height)) + 8;
  const total = 2 * room.margin + room.columns * width + (room.columns - 1) * room.gap;
  const arrows = [machine, ...beside].flatMap((each) => arrowsOf(each, groups, leaves, room));
  return { width: total, height, groups, leaves, arrows };
}

/**
 * @typedef {{box: Box, side: 1 | -1, far: number, y: number}} End of an arrow, at a side of a box; `far` is the other's y
 */

/**
 * One arrow for all rows from one state to another.
 *
 * @param {MachineTable} machine
 * @param {Box[]} groups
 * @param {Box[]} leaves
 * @param {Room} room
 * @returns {Arrow[]}
 */
function arrowsOf(machine, groups, leaves, room) {
  const boxes = new Map([...groups, ...leaves].filter((box) => box.machine === machine.name).map((box) => [box.path, box]));
  const pairs = new Map(machine.rows.map((row) => [`${row.source} ${machine.resolve(row.dest)}`, row]));
  const routed = [...pairs.values()].map((row) => {
    const [from, to] = [boxes.get(row.source), boxes.get(machine.resolve(row.dest))];
    if (!from || !to) {
      throw new Error(`no box for ${row.source} or ${row.dest}`);
    }
    return { ...ends(from, to), row };
  });
  spread(routed.flatMap(({ from, to }) => [from, to]));
  return routed.map(({ from, to, row }) => {
    const [x1, x2] = [edge(from), edge(to)];
    const curve = curveOf(from, to, x1, x2, room);
    const heading = /** @type {1 | -1} */ (-to.side);
    return { machine: machine.name, source: row.source, dest: machine.resolve(row.dest), x1, y1: from.y, x2, y2: to.y, curve, heading };
  });
}

/** @param {Box} from @param {Box} to @returns {{from: End, to: End}} */
function ends(from, to) {
  /** @type {(a: Box, b: Box) => 1 | -1} */
  const facing = (a, b) => {
    if (a.column !== b.column) {
      return b.column > a.column ? 1 : -1;
    }
    return to.y >= from.y ? 1 : -1; // Down on the right, up on the left.
  };
  return {
    from: { box: from, side: facing(from, to), far: to.y, y: 0 },
    to: { box: to, side: facing(to, from), far: from.y, y: 0 },
  };
}

/** Ends at one side of a box are spread over it in the order in which their arrows come. @param {End[]} all */
function spread(all) {
  /** @type {Map<string, End[]>} */
  const sides = new Map();
  for (const end of all) {
    const key = `${end.box.path} ${end.side}`;
    sides.set(key, [...(sides.get(key) ?? []), end]);
  }
  for (const side of sides.values()) {
    const { y } = side[0].box;
    side.sort((a, b) => a.far - b.far);
    side.forEach((end, k) => {
      const share = 0.5 + PORTS * ((k + 1) / (side.length + 1) - 0.5);
      end.y = y + share * Math.min(end.box.height, LEAF_HEIGHT);
    });
  }
}

/** @param {End} end @returns {number} x of the side */
function edge({ box, side }) {
  return side > 0 ? box.x + box.width : box.x;
}

/** @param {End} from @param {End} to @param {number} x1 @param {number} x2 @param {Room} room @returns {string} */
function curveOf(from, to, x1, x2, room) {
  if (from.box.column !== to.box.column) {
    const reach = Math.max(Math.abs(x2 - x1) * 0.5, 20);
    return `M${x1},${from.y} C${x1 + from.side * reach},${from.y} ${x2 + to.side * reach},${to.y} ${x2},${to.y}`;
  }
  const most = room.side + Math.min(room.margin, room.gap) - 6;
  const bulge = Math.min(most, 14 + 0.13 * Math.abs(to.y - from.y)) * (4 / 3) * from.side;
  const out = from.side > 0 ? Math.max(x1, x2) : Math.min(x1, x2);
  const shift = from.box === to.box ? 12 : 0; // A loop leaves above where it comes back.
  return `M${x1},${from.y} C${out + bulge},${from.y - shift} ${out + bulge},${to.y + shift} ${x2},${to.y}`;
}
