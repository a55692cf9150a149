import { assertEquals, assertRejects } from "@std/assert";
import { LoadError, loadWorkflow, makePlan, type Permissions, run, UsageError } from "../../mod.ts";
import { withRig } from "../support/run/rig.ts";
import { withFiles } from "../support/temp_dir.ts";

const JOB = "name: inner\nsteps: [{ uses: hello }]\n";

/** Returns the states of the steps of a workflow that sends a request and runs a command. */
async function outcome(url: string, permissions: Permissions): Promise<string[]> {
  const workflow = `
name: Reaching
jobs:
  - name: reach
    steps:
      - { uses: http, with: { get: "${url}/page" } }
      - { uses: shell, with: { cmd: "exit 0" } }
`;
  return await withFiles({ "w.yml": workflow }, async (directory) => {
    const plan = await makePlan(await loadWorkflow(`${directory}/w.yml`, { permissions }));
    const reported: string[] = [];
    for await (const event of run(plan)) {
      if (event.type === "step_finished") {
        reported.push(event.result.failures[0]?.message.replace(/.*: /, "") ?? "carried out");
      }
    }
    return reported;
  });
}

Deno.test("permissions of a workflow restrict the actions of its runs", async () => {
  await withRig(async (rig) => {
    const { host, port } = new URL(rig.url);
    const refusedHost = `--allow-net does not name 127.0.0.1 port ${port}`;
    const refusedShell = '--allow-run does not name shell "/bin/sh"';
    assertEquals(await outcome(rig.url, { net: [host] }), ["carried out", refusedShell]);
    assertEquals(await outcome(rig.url, { net: [], run: ["/bin/sh"] }), [
      refusedHost,
      "carried out",
    ]);
    assertEquals(await outcome(rig.url, { run: ["/bin/sh"], noShell: true }), [
      "carried out",
      "--no-shell forbids it",
    ]);
    assertEquals(await outcome(rig.url, { noShell: false }), ["carried out", "carried out"]);
    assertEquals(rig.seen.length, 3);
  });
});

Deno.test("permissions restrict what is read while a workflow is loaded", async () => {
  const workflow = `
name: Embedding
jobs:
  - name: outer
    steps:
      - { uses: embedded, with: { path: "other/job.yml" } }
`;
  const files = { "in/w.yml": workflow, "in/other/job.yml": JOB };
  await withFiles(files, async (directory) => {
    const load = (read: readonly string[]) =>
      loadWorkflow(`${directory}/in/w.yml`, { permissions: { read } });
    const plan = await makePlan(await load([`${directory}/in`]));
    assertEquals(await run(plan).passed, true);
    await assertRejects(() => load([]), LoadError, "--allow-read does not name");
  });
});

Deno.test("loadWorkflow() refuses invalid permissions", async () => {
  const refused = (permissions: Permissions) =>
    assertRejects(() => loadWorkflow("none.yml", { permissions }), UsageError);
  const url = await refused({ net: ["https://example.com/"] });
  assertEquals(url.message, 'invalid value "https://example.com/" for permissions.net');
  assertEquals(url.hint, "write the host alone: example.com");
  assertEquals((await refused({ read: [""] })).message, 'invalid value "" for permissions.read');
});
