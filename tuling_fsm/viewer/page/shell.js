/** Commands that are shown, to be pasted into a shell. */

/** @param {string} word @returns {string} as a shell takes it, whatever is in it */
export function shellWord(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
