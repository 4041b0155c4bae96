/**
 * The columns that `tuling_fsm/viewer/columns.py` has packed, as typed arrays again.
 *
 * @typedef {{at: number, n: number, width: number, order: number, first: number, step: number}} ColumnEntry
 * @typedef {{columns: Record<string, ColumnEntry>} & Record<string, any>} PackedHeader
 */

/**
 * @param {string} base64 what stands in the page
 * @returns {Promise<Uint8Array>} the bytes, inflated by the browser itself
 */
export async function inflate(base64) {
  const letters = atob(base64.trim());
  const bytes = new Uint8Array(letters.length);
  for (let i = 0; i < letters.length; i += 1) {
    bytes[i] = letters.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Columns by name; each is decoded when it is first asked for. */
export class Columns {
  /** @param {Uint8Array} bytes inflated */
  constructor(bytes) {
    const size = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    /** @type {PackedHeader} */
    this.header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + size)));
    this.planes = bytes.subarray(4 + size);
    /** @type {Map<string, Float64Array>} */
    this.decoded = new Map();
  }

  /**
   * @param {string} name
   * @returns {Float64Array} in the unit of the column
   */
  get(name) {
    const known = this.decoded.get(name);
    if (known) {
      return known;
    }
    const entry = this.header.columns[name];
    if (!entry) {
      throw new Error(`no column ${name}`);
    }
    const values = decode(entry, this.planes);
    this.decoded.set(name, values);
    return values;
  }

  /** @param {Columns} more of the same columns, whose rows come after these */
  append(more) {
    for (const name of Object.keys(more.header.columns)) {
      this.decoded.set(name, appended(this.get(name), more.get(name)));
    }
  }
}

/**
 * @param {Float64Array} values
 * @param {Float64Array} more
 * @returns {Float64Array} both, in the same memory while there is room, so that growing costs what is new
 */
function appended(values, more) {
  const length = values.length + more.length;
  let room = values.buffer;
  if (room.byteLength < length * Float64Array.BYTES_PER_ELEMENT) {
    const larger = new Float64Array(2 * length);
    larger.set(values);
    room = larger.buffer;
  }
  const grown = new Float64Array(room, 0, length);
  grown.set(more, values.length);
  return grown;
}

/**
 * @param {ColumnEntry} entry
 * @param {Uint8Array} planes all of them
 * @returns {Float64Array}
 */
export function decode({ at, n, width, order, first, step }, planes) {
  const values = new Float64Array(n);
  for (let i = 0; i < n; i += 1) {
    let zigzag = 0;
    for (let k = width - 1; k >= 0; k -= 1) {
      zigzag = zigzag * 256 + planes[at + k * n + i];
    }
    values[i] = zigzag % 2 ? -(zigzag + 1) / 2 : zigzag / 2;
  }
  for (let time = 0; time < order; time += 1) {
    for (let i = 1; i < n; i += 1) {
      values[i] += values[i - 1];
    }
  }
  for (let i = 0; i < n; i += 1) {
    values[i] = (values[i] + first) * step;
  }
  return values;
}

/**
 * @param {ArrayLike<number>} counts of the rows of each
 * @returns {Uint32Array} where the rows of each begin, and at last where they end
 */
export function starts(counts) {
  const found = new Uint32Array(counts.length + 1);
  for (let i = 0; i < counts.length; i += 1) {
    found[i + 1] = found[i] + counts[i];
  }
  return found;
}

/**
 * @param {ArrayLike<number>} times that do not fall
 * @param {number} t
 * @returns {number} index of the last one that is not after t, or -1
 */
export function lastUpTo(times, t) {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] <= t) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low - 1;
}
