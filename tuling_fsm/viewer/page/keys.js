/** What keys do; the line of help is made from the same table. */

/** @typedef {{keys: string[], shown: string, says: string, act: (event: KeyboardEvent) => void}} KeyBinding */

/**
 * @param {import("#film/clock.js").Clock} clock
 * @param {{zoom: (factor: number) => void, follow: () => void, live: () => void, jump: (steps: number) => void}} film
 * @returns {KeyBinding[]}
 */
export function keyBindings(clock, film) {
  const step = (/** @type {number} */ sign) => (/** @type {KeyboardEvent} */ event) =>
    clock.seek(clock.t + sign * (event.shiftKey ? 10 : event.altKey ? 0.1 : 1));
  return [
    { keys: [" "], shown: "space", says: "play, pause", act: () => clock.play(!clock.playing) },
    { keys: ["ArrowRight"], shown: "→", says: "1 s on (Shift 10 s, Alt 0.1 s)", act: step(1) },
    { keys: ["ArrowLeft"], shown: "←", says: "back", act: step(-1) },
    { keys: ["ArrowUp"], shown: "↑", says: "faster", act: () => clock.faster(1) },
    { keys: ["ArrowDown"], shown: "↓", says: "slower", act: () => clock.faster(-1) },
    { keys: ["+", "="], shown: "+", says: "nearer", act: () => film.zoom(1.25) },
    { keys: ["-"], shown: "−", says: "farther", act: () => film.zoom(0.8) },
    { keys: ["n"], shown: "n", says: "next mark", act: () => film.jump(1) },
    { keys: ["p"], shown: "p", says: "mark before", act: () => film.jump(-1) },
    { keys: ["f"], shown: "f", says: "follow the car", act: () => film.follow() },
    { keys: ["l"], shown: "l", says: "live, while it drives", act: () => film.live() },
    { keys: ["Home"], shown: "Home", says: "beginning", act: () => clock.seek(clock.begin) },
    { keys: ["End"], shown: "End", says: "end", act: () => clock.seek(clock.end) },
  ];
}

/** @param {KeyBinding[]} bindings */
export function listenToKeys(bindings) {
  document.addEventListener("keydown", (event) => {
    const writes = event.target instanceof HTMLSelectElement;
    const found = bindings.find(({ keys }) => keys.includes(event.key));
    if (found && !writes && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      found.act(event);
    }
  });
}
