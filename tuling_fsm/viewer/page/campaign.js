/** The page of a campaign: its table is sorted by any column, and shows the runs with some words. */

import { part, themeButton } from "#film/dom.js";

/** @param {HTMLTableRowElement} row @param {number} column @returns {string} */
function value(row, column) {
  return row.cells[column].dataset["value"] ?? row.cells[column].textContent ?? "";
}

/** What is not there comes last, numbers by size, words by letters.
 * @param {string} a @param {string} b @param {number} sign 1 or -1 @returns {number} */
function compared(a, b, sign) {
  if (a === "" || b === "") {
    return Number(a === "") - Number(b === "");
  }
  const [x, y] = [Number(a), Number(b)];
  return sign * (Number.isNaN(x) || Number.isNaN(y) ? a.localeCompare(b) : x - y);
}

class RunTable {
  constructor() {
    const table = /** @type {HTMLTableElement} */ (part("runs"));
    this.body = table.tBodies[0];
    this.heads = [...(table.tHead?.querySelectorAll("th[aria-sort]") ?? [])];
    this.rows = [...this.body.rows];
    this.heads.forEach((head, column) => head.querySelector("button")?.addEventListener("click", () => this.sort(column)));
    this.words = /** @type {HTMLInputElement} */ (part("filter"));
    this.onlyBad = /** @type {HTMLInputElement} */ (part("only-bad"));
    this.words.addEventListener("input", () => this.filter());
    this.onlyBad.addEventListener("change", () => this.filter());
    this.filter();
  }

  /** By a column; again, the other way round. @param {number} column */
  sort(column) {
    const head = this.heads[column];
    const rises = head.getAttribute("aria-sort") !== "ascending";
    this.heads.forEach((each) => each.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", rises ? "ascending" : "descending");
    this.rows.sort((a, b) => compared(value(a, column), value(b, column), rises ? 1 : -1));
    this.body.append(...this.rows);
  }

  filter() {
    const wanted = this.words.value.toLowerCase().split(/\s+/);
    for (const row of this.rows) {
      const text = (row.textContent ?? "").toLowerCase();
      row.hidden = !wanted.every((word) => text.includes(word)) || (this.onlyBad.checked && !row.classList.contains("bad"));
    }
    const shown = this.rows.filter((row) => !row.hidden).length;
    part("shown").textContent = shown === this.rows.length ? "" : `${shown} of ${this.rows.length} runs`;
  }
}

Object.assign(globalThis, { table: new RunTable() });
themeButton(() => undefined);
document.documentElement.dataset["ready"] = "true";
