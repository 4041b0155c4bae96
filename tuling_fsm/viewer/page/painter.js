/** What a run shows at a moment, over the map: the car, what it sees, what it means to do and what it weighed. */

import { at, label, line, pen } from "#film/brush.js";
import { body, outline } from "#film/car.js";
import { lastUpTo } from "#film/columns.js";
import { codeColour, LIGHTS, palette, speedColour } from "#film/palette.js";

/**
 * @typedef {import("#film/recording.js").Recording} Recording
 * @typedef {import("#film/recording.js").SeenObject} SeenObject
 * @typedef {import("#film/scenery.js").Scenery} Scenery
 * @typedef {import("#film/camera.js").Camera} Camera
 * @typedef {{ink: CanvasRenderingContext2D, camera: Camera, ratio: number, recording: Recording, scenery: Scenery,
 *   t: number, first: boolean, labels: boolean}} Shot what is drawn of which run; `first` is the one that is looked at
 */

/** Speed (m/s) that has the last colour of the scale. */
export const FAST = 9;
/** What is slower has no arrow, m/s. */
const LEAST_SPEED = 0.2;
/** How far back the driven path is shown (s), and every which sample of it. */
const TRAIL_S = 60;
const TRAIL_STRIDE = 4;
const PEOPLE = new Set(["pedestrian", "animal", "bicycle", "motorcycle"]);

/**
 * Layers by name, from below to above; each returns how many things it has drawn.
 * @type {Record<string, {label: string, draw: (shot: Shot) => number}>}
 */
export const LAYERS = {
  route: { label: "route", draw: drawRoute },
  trail: { label: "driven path", draw: drawTrail },
  blocked: { label: "blocked part", draw: drawBlocked },
  slots: { label: "parking slots", draw: drawSlots },
  lights: { label: "traffic lights", draw: drawLights },
  plan: { label: "plan by speed", draw: drawPlan },
  candidates: { label: "candidates", draw: drawCandidates },
  predictions: { label: "predictions", draw: drawPredictions },
  velocities: { label: "velocities", draw: drawVelocities },
  objects: { label: "objects", draw: drawObjects },
  targets: { label: "targets", draw: drawTargets },
  walls: { label: "stop walls", draw: drawWalls },
  ego: { label: "car", draw: drawEgo },
};

/** @param {Shot} shot @returns {number} */
function drawRoute(shot) {
  const xy = shot.recording.routeAt("route", shot.t);
  if (xy.length) {
    shot.ink.globalAlpha = 0.45;
    pen(shot, palette().route, 0.9, 3);
    line(shot.ink, xy);
    shot.ink.globalAlpha = 1;
  }
  return xy.length ? 1 : 0;
}

/** @param {Shot} shot @returns {number} where the car has been in the last minute */
function drawTrail(shot) {
  const { recording, t, ink } = shot;
  const times = recording.columns.get("ego.t");
  const [x, y] = [recording.columns.get("ego.x"), recording.columns.get("ego.y")];
  const colours = palette();
  ink.setLineDash([0.6, 0.6]);
  pen(shot, shot.first ? colours.trail : colours.other, 0.12, 1.2);
  ink.beginPath();
  const [from, to] = [lastUpTo(times, t - TRAIL_S) + 1, lastUpTo(times, t)];
  for (let i = from; i <= to; i += TRAIL_STRIDE) {
    ink.lineTo(x[i], y[i]);
  }
  ink.stroke();
  ink.setLineDash([]);
  return to >= from ? 1 : 0;
}

/** @param {Shot} shot @returns {number} */
function drawBlocked(shot) {
  const xy = shot.recording.routeAt("blocked", shot.t);
  if (xy.length) {
    shot.ink.globalAlpha = 0.55;
    shot.ink.setLineDash([1.2, 0.8]);
    pen(shot, palette().blocked, 1.8, 4);
    line(shot.ink, xy);
    shot.ink.setLineDash([]);
    shot.ink.globalAlpha = 1;
  }
  return xy.length ? 1 : 0;
}

/** @param {Shot} shot @returns {number} */
function drawSlots(shot) {
  const slots = shot.recording.slotsAt(shot.t);
  const colours = palette();
  for (const slot of slots) {
    at(shot, slot.x, slot.y, slot.heading, () => {
      shot.ink.fillStyle = slot.taken ? colours.slotTaken : colours.slotFree;
      shot.ink.globalAlpha = 0.28;
      shot.ink.fillRect(-slot.length / 2, -slot.width / 2, slot.length, slot.width);
      shot.ink.globalAlpha = 1;
    });
  }
  return slots.length;
}

/** @param {Shot} shot @returns {number} stop lines and signal heads in the colour that was seen */
function drawLights(shot) {
  const { scenery, ink, camera } = shot;
  const states = shot.recording.lightsAt(shot.t);
  for (const stop of scenery.stopLines) {
    const [x0, y0, x1, y1] = stop.ends;
    const seen = stop.kind === "light" ? LIGHTS[states.get(stop.signal) ?? "unknown"] : palette().line;
    pen(shot, seen, 0.4, 2.5);
    line(ink, [x0, y0, x1, y1]);
  }
  for (const signal of scenery.signals) {
    const colour = LIGHTS[states.get(signal.number) ?? "unknown"];
    const radius = Math.max(0.55, 4.5 / camera.scale);
    ink.beginPath();
    ink.arc(signal.x, signal.y, radius, 0, 7);
    ink.fillStyle = colour;
    ink.fill();
    pen(shot, palette().ink, 0.12, 1.5);
    ink.stroke();
  }
  return scenery.stopLines.length + scenery.signals.length;
}

/** @param {Shot} shot @returns {number} */
function drawPlan(shot) {
  const { recording, ink } = shot;
  const plan = recording.planAt(shot.t);
  if (!plan) {
    return 0;
  }
  const [x, y, v] = ["x", "y", "v"].map((name) => recording.columns.get(`plan.${name}`));
  ink.lineCap = "round";
  ink.globalAlpha = shot.first ? 0.9 : 0.5;
  for (let i = plan.begin; i + 1 < plan.end; i += 1) {
    pen(shot, speedColour(Math.abs(v[i]) / FAST), 0.7, 4);
    line(ink, [x[i], y[i], x[i + 1], y[i + 1]]);
  }
  ink.globalAlpha = 1;
  ink.lineCap = "butt";
  return plan.end - plan.begin;
}

/** @param {Shot} shot @returns {number} where each ends, in the colour of what it lost by */
function drawCandidates(shot) {
  const { ink, camera } = shot;
  const found = shot.recording.candidatesAt(shot.t);
  for (const each of found) {
    const won = each.fate === "won";
    const radius = Math.max(won ? 0.5 : 0.28, (won ? 5 : 3) / camera.scale);
    ink.beginPath();
    ink.arc(each.x, each.y, radius, 0, 7);
    ink.fillStyle = codeColour(each.fate);
    ink.fill();
    if (won) {
      pen(shot, palette().label, 0.12, 1.5);
      ink.stroke();
    }
  }
  return found.length;
}

/** @param {Shot} shot @param {SeenObject} each @returns {string} */
function objectColour(shot, each) {
  const colours = palette();
  return PEOPLE.has(each.kind) ? colours.person : shot.first ? colours.object : colours.other;
}

/** @param {Shot} shot @returns {number} the way of a second */
function drawVelocities(shot) {
  const moving = shot.recording.objectsAt(shot.t).filter((each) => Math.hypot(each.vx, each.vy) > LEAST_SPEED);
  for (const each of moving) {
    const [x, y] = [each.x + each.vx, each.y + each.vy];
    pen(shot, objectColour(shot, each), 0.16, 2);
    line(shot.ink, [each.x, each.y, x, y]);
    const barb = Math.max(0.6, 5 / shot.camera.scale);
    at(shot, x, y, Math.atan2(each.vy, each.vx), () => line(shot.ink, [-barb, barb / 2, 0, 0, -barb, -barb / 2]));
  }
  return moving.length;
}

/** @param {Shot} shot @returns {number} ways of the next seconds, with a dot a second */
function drawPredictions(shot) {
  const { ink, camera } = shot;
  const ways = shot.recording.predictionsAt(shot.t);
  const colour = shot.first ? palette().predicted : palette().other;
  for (const { xy } of ways) {
    ink.globalAlpha = 0.8;
    ink.setLineDash([0.7, 0.5]);
    pen(shot, colour, 0.12, 1.3);
    line(ink, xy);
    ink.setLineDash([]);
    ink.fillStyle = colour;
    for (let i = 2; i < xy.length; i += 2) {
      ink.globalAlpha = 0.9 - 0.35 * (i / xy.length);
      ink.beginPath();
      ink.arc(xy[i], xy[i + 1], Math.max(0.25, 2.2 / camera.scale), 0, 7);
      ink.fill();
    }
  }
  ink.globalAlpha = 1;
  return ways.length;
}

/** @param {Shot} shot @returns {number} */
function drawObjects(shot) {
  const { recording, ink, t } = shot;
  const radarOnly = recording.wordAt("sensors", t) === "radar_and_history";
  const blocker = recording.whyAt(t)?.blocker ?? -1;
  const found = recording.objectsAt(t);
  for (const each of found) {
    const colour = objectColour(shot, each);
    ink.globalAlpha = radarOnly && !each.counts ? 0.25 : 1;
    at(shot, each.x, each.y, each.heading, () => box(shot, each, colour, each.id === blocker));
    ink.globalAlpha = 1;
  }
  if (shot.labels) {
    for (const each of found) {
      label(shot, each.x, each.y + each.width, `${each.kind} ${each.id}`);
    }
  }
  return found.length;
}

/** @param {Shot} shot @param {SeenObject} each @param {string} colour @param {boolean} blocks what limits the car */
function box(shot, each, colour, blocks) {
  const { ink, camera } = shot;
  const length = Math.max(each.length, 3 / camera.scale);
  const width = Math.max(each.width, 3 / camera.scale);
  ink.fillStyle = colour;
  ink.beginPath();
  ink.roundRect(-length / 2, -width / 2, length, width, Math.min(length, width) * 0.25);
  ink.fill();
  if (length > 2.5) {
    ink.fillStyle = palette().label;
    ink.globalAlpha *= 0.6;
    ink.fillRect(length * 0.16, -width * 0.38, length * 0.12, width * 0.76);
  }
  if (blocks) {
    ink.globalAlpha = 1;
    pen(shot, palette().wall, 0.2, 2.5);
    ink.beginPath();
    ink.roundRect(-length / 2 - 0.5, -width / 2 - 0.5, length + 1, width + 1, 0.6);
    ink.stroke();
  }
}

/** @param {Shot} shot @returns {number} */
function drawTargets(shot) {
  const targets = shot.recording.spansAt("target", shot.t);
  for (const { numbers } of targets) {
    at(shot, numbers[0], numbers[1], numbers[2], () => {
      outline(shot, shot.recording.header.vehicle);
      pen(shot, palette().target, 0.15, 1.5);
      shot.ink.setLineDash([0.6, 0.4]);
      shot.ink.stroke();
      shot.ink.setLineDash([]);
    });
  }
  return targets.length;
}

/** @param {Shot} shot @returns {number} */
function drawWalls(shot) {
  const walls = shot.recording.spansAt("wall", shot.t);
  for (const { numbers } of walls) {
    const [x0, y0, x1, y1] = numbers;
    pen(shot, palette().wall, 0.35, 3);
    line(shot.ink, [x0, y0, x1, y1]);
  }
  walls.forEach(({ numbers, words }) => {
    const [x0, y0, x1, y1] = numbers;
    const onTheRight = x1 > x0;
    label(shot, onTheRight ? x1 : x0, onTheRight ? y1 : y0, words, palette().wall);
  });
  return walls.length;
}

/** @param {Shot} shot @returns {number} */
function drawEgo(shot) {
  const { recording, t } = shot;
  const ego = recording.egoAt(t);
  const colours = palette();
  const car = recording.header.vehicle;
  at(shot, ego.x, ego.y, ego.heading, () => {
    body(shot, car, recording.steerAt(t), shot.first ? colours.ego : colours.other, shot.first ? 1 : 0.75);
    lamps(shot, recording.wordAt("indicators", t), brakes(recording, t));
  });
  if (shot.labels && !shot.first) {
    label(shot, ego.x, ego.y + 1.5, recording.name, colours.other);
  }
  return 1;
}

/** @param {Recording} recording @param {number} t @returns {boolean} whether it slows down or stands */
function brakes(recording, t) {
  const [now, soon] = [recording.egoAt(t).v, recording.egoAt(t + 0.2).v];
  return Math.abs(now) < 0.05 || Math.abs(soon) < Math.abs(now) - 0.06;
}

/** @param {Shot} shot @param {string} word of the indicators @param {boolean} braking */
function lamps({ ink, recording, t }, word, braking) {
  const car = recording.header.vehicle;
  const [front, rear, half] = [car.wheelbase + car.front_overhang, -car.rear_overhang, car.width / 2];
  const lit = t % 0.8 < 0.45;
  for (const [side, name] of /** @type {[number, string][]} */ ([[1, "left"], [-1, "right"]])) {
    ink.fillStyle = braking ? "#ff3b30" : "#8e1b16";
    ink.fillRect(rear - 0.02, side * half * 0.7 - 0.22, 0.2, 0.44);
    if (lit && (word === name || word === "hazard")) {
      ink.fillStyle = "#ffb000";
      for (const x of [front - 0.25, rear + 0.25]) {
        ink.beginPath();
        ink.arc(x, side * half * 0.95, 0.34, 0, 7);
        ink.fill();
      }
    }
  }
} // prettier-ignore
