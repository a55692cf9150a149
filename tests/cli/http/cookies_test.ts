import { assertEquals } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

/** Counts the visits of a session in its cookie, and keeps what each request was sent. */
function counter(seen: string[]) {
  return withServer((request) => {
    const visits = Number(/visits=(\d+)/.exec(request.headers.get("cookie") ?? "")?.[1] ?? 0) + 1;
    seen.push(`${new URL(request.url).pathname.slice(1)} ${visits}`);
    return new Response("", { headers: { "set-cookie": `visits=${visits}; Path=/` } });
  });
}

async function run(workflow: string, files: Readonly<Record<string, string>> = {}) {
  const seen: string[] = [];
  await using server = counter(seen);
  const all = { "w.yml": workflow.replaceAll("URL", server.url), ...files };
  await withFiles(all, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
    assertEquals([code, stderr], [0, ""], stdout);
  });
  return seen;
}

Deno.test("each job and each round of a repeat has cookies of its own", async () => {
  const seen = await run(`
name: w
jobs:
  - name: rounds
    id: rounds
    repeat: { count: 2, interval: 0s }
    steps:
      - { uses: http, with: { get: "URL/a" }, test: res.code == 200 }
      - { uses: http, with: { get: "URL/b" }, test: res.code == 200 }
  - name: another job
    needs: [rounds]
    steps:
      - { uses: http, with: { get: "URL/c" }, test: res.code == 200 }
`);
  assertEquals(seen, ["a 1", "b 2", "a 1", "b 2", "c 1"]);
});

Deno.test("a job file shares the cookies of the job around it", async () => {
  const seen = await run(
    `
name: w
jobs:
  - name: j
    steps:
      - { uses: http, with: { get: "URL/outer" }, test: res.code == 200 }
      - { uses: embedded, with: { path: inner.yml, vars: { url: URL } } }
      - { uses: http, with: { get: "URL/outer" }, test: res.code == 200 }
`,
    {
      "inner.yml": `
name: inner
steps:
  - { uses: http, with: { get: "{{vars.url}}/inner" }, test: res.code == 200 }
`,
    },
  );
  assertEquals(seen, ["outer 1", "inner 2", "outer 3"]);
});

Deno.test("a job in defaults can name the cookies that it shares, in the order of needs", async () => {
  const job = (id: string, needs: string) => `
  - name: ${id}
    id: ${id}
    needs: ${needs}
    defaults: { http: { cookies: shared } }
    steps: [{ uses: http, with: { get: "URL/${id}" }, test: res.code == 200 }]`;
  const seen = await run(`name: w\njobs:${job("c", "[b]")}${job("b", "[a]")}${job("a", "[]")}\n`);
  assertEquals(seen, ["a 1", "b 2", "c 3"]);
});

Deno.test("a cookie file is found beside the workflow that names it", async () => {
  const cookies = "127.0.0.1\tFALSE\t/\tFALSE\t0\tvisits\t41\n";
  const seen: string[] = [];
  await using server = counter(seen);
  const workflow = `
name: w
jobs:
  - name: j
    defaults: { http: { cookie_file: cookies.txt } }
    steps: [{ uses: http, with: { get: "${server.url}/file" }, test: res.code == 200 }]
`;
  await withFiles({ "flows/w.yml": workflow, "flows/cookies.txt": cookies }, async (cwd) => {
    const { code, stdout } = await runMain(["flows/w.yml"], { cwd });
    assertEquals(code, 0, stdout);
    const denied = await runMain([
      "--allow-net",
      "127.0.0.1",
      "--allow-read",
      "other",
      "flows/w.yml",
    ], {
      cwd,
    });
    assertEquals(denied.code, 1);
    assertEquals(denied.stdout.includes("--allow-read does not name"), true, denied.stdout);
  });
  assertEquals(seen, ["file 42"]);
});

Deno.test("each entry that runs at once has cookies of its own, and none of the job", async () => {
  const workflow = (parallel: number) => `
name: w
jobs:
  - name: j
    steps:
      - { uses: http, with: { get: "URL/before" }, test: res.code == 200 }
      - uses: http
        with: { get: "URL/{{vars.path}}" }
        iteration: { list: [{ path: a }, { path: b }, { path: c }], parallel: ${parallel} }
        test: res.code == 200
      - { uses: http, with: { get: "URL/after" }, test: res.code == 200 }
`;
  const apart = await run(workflow(3));
  assertEquals(apart.toSorted(), ["a 1", "after 2", "b 1", "before 1", "c 1"]);
  assertEquals(await run(workflow(1)), ["before 1", "a 2", "b 3", "c 4", "after 5"]);
});
