/** Elements of the page: found, and made. */

/** @param {string} id @returns {HTMLElement} */
export function part(id) {
  const found = document.getElementById(id);
  if (!found) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
}

/** @param {string} tag @param {string} [className] @param {string} [text] @returns {HTMLElement} */
export function make(tag, className = "", text = "") {
  const made = document.createElement(tag);
  made.className = className;
  made.textContent = text;
  return made;
}

/**
 * @param {string} text
 * @param {() => void} act
 * @param {string} [className]
 * @returns {HTMLButtonElement}
 */
export function button(text, act, className = "") {
  const made = /** @type {HTMLButtonElement} */ (make("button", className, text));
  made.type = "button";
  made.addEventListener("click", act);
  return made;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} [attributes]
 * @param {string} [text]
 * @returns {SVGElement}
 */
export function draw(tag, attributes = {}, text = "") {
  const made = /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries(attributes)) {
    made.setAttribute(name, String(value));
  }
  made.textContent = text;
  return made;
}

/** @param {number} seconds @returns {string} */
export const secondsText = (seconds) => `${seconds.toFixed(2)} s`;
