/** What there is to say of a moment, in sentences. */

/**
 * @typedef {import("#machine/tables.js").RowData} RowData
 * @typedef {{row: RowData, heldS: number, remainingS: number}} Timer
 * @typedef {{t: number, machine: string, source: string, dest: string, guard: string, clause: string, dwellS: number,
 *   rejected: string[]}} Transition
 * @typedef {{path: string, inStateS: number | null, sinceT: number, timers: Timer[], last: Transition | null}} Seen
 *   of one machine; of a recorded one no active clock is known, and `inStateS` is null
 * @typedef {{t: number, frozen: boolean, jump: number, machines: Map<string, Seen>}} Moment
 */

/** @param {number} seconds @returns {string} */
export const secondsText = (seconds) => `${seconds.toFixed(2)} s`;

/** @param {Timer} timer @returns {number} how much of the wait is over, 0 to 1 */
export function share({ heldS, remainingS }) {
  const whole = heldS + remainingS;
  return whole > 0 ? Math.min(Math.max(heldS / whole, 0), 1) : 1;
}

/** @param {Timer} timer @returns {string} how far a row is whose guard holds */
export function timerWords({ row, heldS, remainingS }) {
  const held = `holds for ${secondsText(heldS)} of ${secondsText(row.dwellS)}`;
  const kept = heldS + remainingS > row.dwellS + 1e-6;
  return kept ? `${held}; the state itself is kept for ${secondsText(remainingS)} more (DWELL-2)` : held;
}

/** @param {Transition} made @returns {string} */
function transitionWords({ source, dest, guard, clause, dwellS, rejected }) {
  const why = guard ? `${guard} held${dwellS > 0 ? ` for ${secondsText(dwellS)}` : ""}, so` : "";
  const lost = rejected.length ? ` Ripe too, but later in the order: ${rejected.join(", ")}.` : "";
  return `${why} ${source} → ${dest}${clause ? ` (${clause})` : ""}.${lost}`.trim();
}

/** @param {Moment} moment @param {Seen} seen of the hierarchy @param {boolean} fired on this very tick @returns {string} */
export function headlineWords({ frozen, jump }, seen, fired) {
  if (frozen) {
    const kept = seen.timers.length ? ", its timers with the time that they have left" : "";
    return `The emergency stop holds everything as it is (EST-1): ${seen.path}${kept}. It goes on there when the stop is over.`;
  }
  if (fired && seen.last) {
    return transitionWords(seen.last);
  }
  if (jump) {
    return `Time jumped by ${secondsText(jump)}: all dwell timers start anew (DWELL-5).`;
  }
  const [soonest] = [...seen.timers].sort((a, b) => a.remainingS - b.remainingS);
  if (soonest) {
    return `${soonest.row.guard} ${timerWords(soonest)}: to ${soonest.row.dest} in ${secondsText(soonest.remainingS)}.`;
  }
  return seen.inStateS === null ? `No dwell timer of ${seen.path} runs.` : `No guard of ${seen.path} holds: it stays.`;
}
