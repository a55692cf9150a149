import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { findJobs } from "../src/find_jobs.mjs";

test("jobs that have an id are found, and no steps", async () => {
  const text = await readFile(new URL("../../../examples/demo.yml", import.meta.url), "utf8");
  const lines = text.split("\n");
  const jobs = findJobs(text);
  assert.deepEqual(jobs.map(({ id }) => id), [
    ...["health", "login", "order", "shell", "load", "cleanup"],
  ]);
  assert.equal(lines[jobs[1].line], "  - name: Log in");
});

test("lists without indentation, quotes and comments are understood", () => {
  const text =
    'jobs: # all\n- id: "a" # first\n  steps:\n  - id: no\n# note\n- name: b\n  id: b\nvars:\n- id: no\n';
  assert.deepEqual(findJobs(text), [{ id: "a", line: 1 }, { id: "b", line: 5 }]);
  assert.deepEqual(findJobs("on: push\njobs:\n  build:\n    id: x\n"), []);
});
