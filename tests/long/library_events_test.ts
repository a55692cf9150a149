import { assert, assertEquals } from "@std/assert";
import { withProgram } from "../support/run/run_program.ts";

/** The number of a hundred thousand events that are in memory when a run is over. */
const KEPT = `
import { LoadError, loadWorkflow, makePlan, run, type RunEvent } from "@runner/runner";

const IS_READ = false as boolean;
const shown: WeakRef<RunEvent>[] = [];
const onEvent = (event: RunEvent) => { shown.push(new WeakRef(event)); };
const running = run(await makePlan(await loadWorkflow("w.yml")), { onEvent });
const unread = IS_READ ? running[Symbol.asyncIterator]() : undefined;
await unread?.next();
await running.passed;
// The target of a WeakRef that was read stays alive until the end of the turn.
await new Promise((resolve) => setTimeout(resolve));
(globalThis as unknown as { gc(): void }).gc();
const kept = shown.filter((event) => event.deref() !== undefined).length;
console.log(JSON.stringify({ shown: shown.length, kept, running: typeof running + typeof unread }));
`;

Deno.test("events are not kept if only a function receives them", async () => {
  const steps = "\n      - uses: hello".repeat(10);
  const workflow = `
name: Many
jobs:
  - name: many
    repeat: { count: 5000 }
    steps:${steps}
`;
  const kept = async (program: string) => {
    const options = ["-A", "--v8-flags=--expose-gc"];
    return await withProgram({ program, options, files: { "w.yml": workflow } }, (end) => {
      assertEquals([end.code, end.stderr], [0, ""]);
      return JSON.parse(end.stdout) as { shown: number; kept: number };
    });
  };
  const alone = await kept(KEPT);
  assert(alone.shown > 100_000, `${alone.shown} events`);
  assert(alone.kept < 100, `${alone.kept} events are in memory`);
  // A loop that has begun gets every event: were none of them kept, the count would be no proof.
  const read = await kept(KEPT.replace("IS_READ = false", "IS_READ = true"));
  assert(read.kept > 100_000, `${read.kept} events are in memory`);
});
