/** What `tuling-fsm why BAG --at T` says, for the moment that is shown. */

import { clockText } from "#film/clock.js";
import { element } from "#film/dom.js";
import { codeColour, stateColour } from "#film/palette.js";
import { shellWord } from "#film/shell.js";

/** @typedef {import("#film/recording.js").Recording} Recording */

/** @param {number} value s @returns {string} or nothing where it is not known */
const seconds = (value) => (value < 0 ? "" : `${value.toFixed(1)} s`);

export class MomentPanel {
  /** @param {HTMLElement} place */
  constructor(place) {
    this.place = place;
    this.shown = "";
  }

  /** @param {Recording} recording @param {number} t */
  show(recording, t) {
    const row = recording.whyRow(t);
    const change = recording.changeAt(t);
    const stop = recording.stopAt(t);
    const state = recording.wordAt("state", t);
    const key = [recording.name, row, change?.t, stop?.from, state, recording.wordAt("indicators", t)].join(" ");
    if (key === this.shown) {
      return;
    }
    this.shown = key;
    this.place.replaceChildren(
      ...stateBlock(recording, t, state),
      ...limitBlock(recording, t),
      ...timerBlock(recording, row, t),
      ...pastBlock(recording, t),
      ...weighedBlock(recording, t),
      ...alsoBlock(recording, row, t),
      command(recording, t),
    );
  }
}

/** @param {string} title @param {...(HTMLElement | string)} content @returns {HTMLElement[]} */
function block(title, ...content) {
  const section = element("section");
  section.append(element("h3", "", title), ...content);
  return [section];
}

/** @param {Recording} recording @param {number} t @param {string} state @returns {HTMLElement[]} */
function stateBlock(recording, t, state) {
  const why = recording.whyAt(t);
  const [composite, leaf] = (state || "no state").split("/");
  const line = element("p", "state");
  const chip = element("span", "chip", composite.replaceAll("_", " "));
  chip.style.background = stateColour(composite);
  line.append(chip, element("strong", "", (leaf ?? "").replaceAll("_", " ")));
  if (why && why.inState >= 0) {
    line.append(element("span", "quiet", `for ${seconds(why.inState)}`));
  }
  return block("State", line);
}

/** @param {Recording} recording @param {number} t @returns {HTMLElement[]} */
function limitBlock(recording, t) {
  const why = recording.whyAt(t);
  if (!why) {
    return block("Limited by", element("p", "quiet", "nothing was said of why up to then"));
  }
  const line = element("p");
  const chip = element("span", "chip", why.code || "?");
  chip.style.background = codeColour(why.code);
  const ahead = why.distance > 0 && why.level > 0 ? ` in ${why.distance.toFixed(1)} m` : "";
  line.append(chip, ` ${why.words}${ahead}`);
  const more = [why.held > 0 ? `for ${seconds(why.held)}` : "", why.blocker >= 0 ? `object ${why.blocker}` : ""];
  const said = more.filter(Boolean).join(", ");
  return block("Limited by", line, ...(said ? [element("p", "quiet", said)] : []));
}

/** @param {Recording} recording @param {number} row @param {number} t @returns {HTMLElement[]} */
function timerBlock(recording, row, t) {
  const why = recording.whyAt(t);
  const timers = row < 0 ? [] : recording.dwells(row);
  const bars = timers.map(({ dest, guard, clause, held, of }) => {
    const item = element("div", "timer");
    const bar = element("div", "bar");
    const fill = element("div", "fill");
    fill.style.width = `${of > 0 ? Math.min((100 * held) / of, 100) : 100}%`;
    bar.append(fill);
    const times = `${held.toFixed(2)} of ${of.toFixed(2)} s`;
    item.append(element("span", "", `→ ${dest}`), element("span", "quiet", times), bar, element("small", "quiet", `${guard} (${clause})`));
    return item;
  });
  if (!bars.length && why?.next) {
    bars.push(element("p", "quiet", `${why.next} in ${seconds(why.timeoutLeft)} if nothing changes`));
  }
  return bars.length ? block("Next", ...bars) : [];
}

/** @param {Recording} recording @param {number} t @returns {HTMLElement[]} */
function pastBlock(recording, t) {
  const lines = [];
  const stop = recording.stopAt(t);
  if (stop) {
    lines.push(element("p", "stands", `Stands from ${clockText(stop.from)} to ${clockText(stop.to)}: ${stop.words}`));
  }
  const change = recording.changeAt(t);
  if (change) {
    const why = change.clause ? ` (${change.clause}: ${change.guard}${change.dwell ? ` for ${change.dwell} s` : ""})` : "";
    lines.push(element("p", "", `${clockText(change.t)}  ${change.from} → ${change.to}${why}`));
    lines.push(...change.rejected.map((other) => element("p", "quiet", `not to ${other}`)));
  }
  return lines.length ? block("Came here", ...lines) : [];
}

/** @param {Recording} recording @param {number} t @returns {HTMLElement[]} */
function weighedBlock(recording, t) {
  const found = recording.candidatesAt(t);
  if (!found.length) {
    return [];
  }
  /** @type {Map<string, number>} */
  const fates = new Map();
  for (const { fate } of found) {
    fates.set(fate, (fates.get(fate) ?? 0) + 1);
  }
  const line = element("p", "fates");
  for (const [fate, count] of [...fates].sort((a, b) => b[1] - a[1])) {
    const chip = element("span", "fate");
    const dot = element("i");
    dot.style.background = codeColour(fate);
    chip.append(dot, `${count} ${fate === "won" ? "won" : `lost by ${fate}`}`);
    line.append(chip);
  }
  const best = found.find(({ fate }) => fate === "won");
  const words = best ? `lane ${best.shift >= 0 ? "+" : ""}${best.shift}, ${best.offset.toFixed(2)} m, cost ${best.cost.toFixed(1)}` : "";
  return block(`Weighed ${found.length} candidates`, line, ...(words ? [element("p", "quiet", `won: ${words}`)] : []));
}

/** @param {Recording} recording @param {number} row @param {number} t @returns {HTMLElement[]} */
function alsoBlock(recording, row, t) {
  const said = row < 0 ? [] : recording.also(row).filter((text) => !text.startsWith("candidates:"));
  const facts = ["sensors", "indicators"].map((topic) => [topic, recording.wordAt(topic, t)]);
  for (const [name, spans] of recording.supervisorSpans()) {
    facts.push([name.replaceAll("_", " "), spans.filter((span) => span.from <= t).pop()?.text ?? ""]);
  }
  const list = element("dl");
  for (const [name, value] of facts.filter(([, word]) => word)) {
    list.append(element("dt", "", name), element("dd", "", value.replaceAll("_", " ")));
  }
  return block("Also", ...said.map((text) => element("p", "", text)), list);
}

/** @param {Recording} recording @param {number} t @returns {HTMLElement} what says the same in a terminal */
function command(recording, t) {
  const why = recording.whyAt(t);
  const stamp = (recording.header.origin.t + (why?.t ?? t)).toFixed(2);
  return element("code", "command", `tuling-fsm why ${shellWord(recording.header.bag)} --at ${stamp}`);
}
