import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";

import { shellWord } from "../../../tuling_fsm/viewer/page/shell.js";

test("a name is one word to a shell, and a plain one is as it is", () => {
  assert.equal(shellWord("out/run-1_b.mcap"), "out/run-1_b.mcap");
  for (const name of ["my site/run", "it's", "a$HOME", "`ls`", 'a"b', "a;b", "", "\u573a\u5730", "*", "#1"]) {
    assert.equal(execFileSync("sh", ["-c", `printf %s ${shellWord(name)}`], { encoding: "utf8" }), name);
  }
});
