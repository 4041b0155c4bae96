/** The page's engine over ticks from standard input: first the tables, then a line a tick; a line of what came of each. */

import { Buffer } from "node:buffer";
import { readFileSync, writeSync } from "node:fs";

import { Behaviour } from "../../../tuling_fsm/viewer/page/machine/behaviour.js";
import { rowKey } from "../../../tuling_fsm/viewer/page/machine/tables.js";

const [tables, ...ticks] = readFileSync(0, "utf-8").split("\n");
const behaviour = new Behaviour(JSON.parse(tables));

const recordOf = ({ record }) => [record.path, record.clock, record.stamp, record.enteredAt, [...record.trueSince]];

function stepOf(step) {
  if (!step) {
    return null;
  }
  const pending = step.pending.map(({ row, heldS, remainingS }) => [row.dest, row.guard, row.clause, heldS, row.dwellS, remainingS]);
  return [step.fired && rowKey(step.fired), pending, step.rejected.map(rowKey)];
}

function write(text) {
  const bytes = Buffer.from(text);
  let at = 0;
  while (at < bytes.length) {
    try {
      at += writeSync(1, bytes, at);
    } catch (error) {
      if (error.code !== "EAGAIN") {
        throw error;
      }
    }
  }
}

const said = ticks.map((line) => {
  const [stamp, holding, put] = JSON.parse(line);
  if (put) {
    behaviour.machine.put(put);
  }
  const { jump, steps } = behaviour.tick(stamp, new Set(holding));
  const { engines } = behaviour;
  return JSON.stringify([jump, engines.map(recordOf), engines.map(({ table }) => stepOf(steps.get(table.name)))]);
});
write(said.join("\n"));
