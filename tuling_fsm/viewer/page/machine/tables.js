/**
 * A table of states and rows, as `tuling_fsm/viewer/machine_tables.py` writes it.
 *
 * @typedef {{path: string, initial?: string, minDwellS?: number, retryS?: number | null, terminal?: boolean,
 *   enabled?: boolean, asksItself?: boolean, words?: string}} StateData
 * @typedef {{source: string, dest: string, guard: string, priority: string, rank: [number, number], clause: string,
 *   dwellS: number, minDwellS: number | null, safety: boolean, deadline: boolean}} RowData
 * @typedef {{name: string, initial: string, states: StateData[], rows: RowData[]}} MachineData
 * @typedef {{tickS: number, maxGapS: number, toleranceS: number, stopped: string[], machines: MachineData[],
 *   guards: Record<string, string>}} TablesData
 */

export const SEPARATOR = "/";

/** @param {string} source @param {string} path @returns {boolean} whether it is that state or a composite around it */
export function covers(source, path) {
  return path === source || path.startsWith(source + SEPARATOR);
}

/** @param {string} path @returns {string[]} the composites around a state, the outermost first */
export function ancestors(path) {
  const names = path.split(SEPARATOR);
  return names.slice(1).map((_, i) => names.slice(0, i + 1).join(SEPARATOR));
}

/** @param {RowData} row @returns {string} what tells a row from all others of its table */
export function rowKey({ source, dest, guard }) {
  return `${source} > ${dest} : ${guard}`;
}

export class MachineTable {
  /** @param {MachineData} data */
  constructor({ name, initial, states, rows }) {
    this.name = name;
    this.initial = initial;
    this.rows = rows;
    this.states = new Map(states.map((state) => [state.path, state]));
    this.leaves = states.filter((state) => state.initial === undefined);
    /** For every leaf the rows that can leave it, the first to win first (DWELL-4). @type {Map<string, RowData[]>} */
    this.rowsFrom = new Map(this.leaves.map(({ path }) => [path, this.usableFrom(path)]));
  }

  /** @param {string} path @returns {StateData} */
  state(path) {
    const found = this.states.get(path);
    if (!found) {
      throw new Error(`${this.name} has no state ${path}`);
    }
    return found;
  }

  /** @param {string} path @returns {string} the leaf that is entered when this is */
  resolve(path) {
    const { initial } = this.state(path);
    return initial === undefined ? path : this.resolve(path + SEPARATOR + initial);
  }

  /** @param {string} path of a leaf @returns {RowData[]} */
  usableFrom(path) {
    const enabled = (/** @type {string} */ each) => this.state(each).enabled !== false;
    return this.rows
      .filter((row) => covers(row.source, path) && enabled(row.source) && enabled(this.resolve(row.dest)))
      .sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
  }
}
