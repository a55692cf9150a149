import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { assert, assertEquals } from "@std/assert";
import { runHere } from "../support/run/run_main.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/** Bytes that a run has when its load job is over, and its server is open still. */
async function memoryAfter(rounds: number): Promise<number> {
  let used = 0;
  await using server = withServer(() => {
    collect();
    used = Deno.memoryUsage().heapUsed;
    return new Response();
  });
  const flow = `name: Load
jobs:
  - id: open
    name: open
    steps:
      - { id: hooks, uses: listen, outputs: { url: res.url } }
  - id: load
    name: load
    needs: [open]
    load: { users: 20, count: ${rounds} }
    steps:
      - uses: http
        with: { post: "{{outputs.hooks.url}}", json: { n: "{{round.index}}" } }
        test: res.code == 204
      - uses: receive
        with: { from: hooks, where: message.body.n == round.index }
  - name: measure
    needs: [load]
    steps:
      - { uses: http, with: { get: ${server.url} }, test: res.code == 200 }
      - { uses: receive, with: { from: hooks, none: 1ms } }
`;
  const { code, stdout } = await withFiles(
    { "flow.yml": flow },
    (cwd) => runHere(["flow.yml"], { cwd }),
  );
  assertEquals(code, 0, stdout);
  return used;
}

Deno.test("rounds receive each its own webhook, and 10,000 take the memory of 1,000", async () => {
  await memoryAfter(100);
  const [few, many] = [await memoryAfter(1000), await memoryAfter(10_000)];
  assert(many - few < 4e6, `${few} and ${many} bytes`);
});
