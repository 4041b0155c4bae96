/** Parts of a page: what is there, and what is made. */

/** @param {string} id @returns {HTMLElement} */
export function part(id) {
  const found = document.getElementById(id);
  if (!found) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
}

/**
 * @param {string} tag
 * @param {string} [className]
 * @param {string} [text]
 * @returns {HTMLElement}
 */
export function element(tag, className = "", text = "") {
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
  const made = /** @type {HTMLButtonElement} */ (element("button", className, text));
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

const DEVICE_RATIO_MOST = 2;

/**
 * As many pixels as a canvas takes on the screen, for it and its camera.
 * @param {HTMLCanvasElement} canvas
 * @param {import("#film/camera.js").Camera} camera
 * @returns {number} pixels of the device a pixel of CSS
 */
export function fit(canvas, camera) {
  const box = canvas.getBoundingClientRect();
  const ratio = Math.min(window.devicePixelRatio || 1, DEVICE_RATIO_MOST);
  camera.width = Math.max(box.width, 1);
  camera.height = Math.max(box.height, 1);
  canvas.width = Math.round(camera.width * ratio);
  canvas.height = Math.round(camera.height * ratio);
  return ratio;
}

/** @param {() => void} changed called when day has become night, or the other way round */
export function themeButton(changed) {
  const root = document.documentElement.dataset;
  const set = (/** @type {boolean} */ dark) => {
    root["theme"] = dark ? "dark" : "light";
    changed();
  };
  part("theme").addEventListener("click", () => set(root["theme"] !== "dark"));
  set(matchMedia("(prefers-color-scheme: dark)").matches);
}
