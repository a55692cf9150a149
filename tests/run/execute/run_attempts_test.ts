import { assertEquals } from "@std/assert";
import { runMain } from "../../support/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/with_server.ts";

/** The pauses of a step whose first attempts get these values of Retry-After, in milliseconds. */
async function pauses(values: readonly string[], step: string): Promise<number[]> {
  let asked = 0;
  await using server = withServer(() => {
    const value = values[asked++];
    return value === undefined
      ? new Response("ready")
      : new Response("busy", { status: 429, headers: value ? { "retry-after": value } : {} });
  });
  const workflow = `name: w
jobs:
  - name: j
    steps: [{ name: s, uses: http, with: { get: "${server.url}" }, test: res.code == 200, ${step} }]
`;
  return await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { stdout } = await runMain(["--report", "ndjson=r.ndjson", "w.yml"], { cwd });
    const lines = (await Deno.readTextFile(`${cwd}/r.ndjson`)).trim().split("\n");
    const events = lines.map((line) => JSON.parse(line));
    assertEquals(events.at(-1).type, "run_finished", stdout);
    return events.filter(({ type }) => type === "step_waiting").map((event) => event.milliseconds);
  });
}

const RETRY = "retry: { max_attempts: 3, interval: 2ms, respect_retry_after: true }";

Deno.test("a retry waits as long as Retry-After says, if it is to be respected", async () => {
  assertEquals(await pauses(["0", "1"], RETRY), [1000]);
  const ignores = RETRY.replace(", respect_retry_after: true", "");
  assertEquals(await pauses(["100", "100"], ignores), [2, 2]);
});

Deno.test("a retry waits for its interval where there is no Retry-After, or none that can be read", async () => {
  assertEquals(await pauses(["", "soon"], RETRY), [2, 2]);
});

Deno.test("a retry waits for a Retry-After at most as long as the step may take", async () => {
  const later = new Date(Date.now() + 3_600_000).toUTCString();
  assertEquals(await pauses(["3600", later], `timeout: 300ms, ${RETRY}`), [300, 300]);
});
