import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { readReports } from "../../support/programs/read_reports.ts";
import { runReports } from "../../support/run/run_reports.ts";

async function markdownOf(yaml: string): Promise<string> {
  const args = ["--report", "markdown=reports/m", "w.yml"];
  return (await runReports({ "w.yml": yaml }, { args })).reports.m!;
}

const ROUNDS = `name: n
jobs:
  - name: many
    repeat: { count: 70 }
    steps:
      - name: round {{repeat_index}}
        uses: http
        with: { get: "{url}/status/{{repeat_index == 69 ? 500 : 404}}" }
        test: res.code == 200
      - name: in time
        uses: http
        with: { get: "{url}/flaky/f{{repeat_index}}/{{repeat_index < 60 ? 2 : 1}}" }
        test: res.code == 200
        retry: { max_attempts: 3 }
  - name: one
    steps:
      - { name: unlike, uses: hello, test: 1 == 2 }
      - { name: exit, uses: shell, with: { cmd: exit 0 } }
`;

Deno.test("Markdown shows each step of a repeated job once, so that the rest has room", async () => {
  const text = await markdownOf(ROUNDS);
  const titles = [...text.matchAll(/<summary>(.*)<\/summary>/g)].map(([, title]) => title);
  const at = "(w.yml:9)";
  assertEquals(titles, [
    `many › round … ${at}`,
    "one › unlike (w.yml:17)",
  ]);
  assertStringIncludes(
    text,
    "\nw.yml:9:15: failed 69 times, first at repeat_index 0: test is false\n",
  );
  assertStringIncludes(
    text,
    "\nw.yml:9:15: failed once, at repeat_index 69: test is false\n",
  );
  assertStringIncludes(text, "### Flaky\n\n- many › in time: flaky in 60 rounds\n");
});

Deno.test("Markdown counts flaky steps and steps that are not tested", async () => {
  assertStringIncludes(
    await markdownOf(ROUNDS),
    "\nJobs: 2 failed (2) — Steps: 70 passed, 60 flaky · 71 failed · 1 not tested (142) — Time: ",
  );
});

Deno.test("long names and a long description leave room in Markdown for failures", async () => {
  const jobs = Array.from({ length: 150 }, (_, index) => ({
    name: `${index} ${"<&>".repeat(2000)}`,
    steps: [{ name: "*".repeat(5000), uses: "hello", test: index === 149 ? "1 == 2" : "true" }],
  }));
  const workflow = { name: "w".repeat(9000), description: "ä ".repeat(50_000), jobs };
  const text = await markdownOf(JSON.stringify(workflow));
  assert(new TextEncoder().encode(text).length < 60_000);
  assertStringIncludes(text, "149 passed · 1 failed (150)");
  assertStringIncludes(text, "more jobs\n");
  assertStringIncludes(text, "1 == 2");
});

Deno.test("Markdown shows brackets and underscores as they are, not as code", async () => {
  const name = "get_user_by_id [admin] <b> & *all* | none";
  const text = await markdownOf(
    `name: n\njobs: [{ name: "${name}", steps: [{ name: s, uses: hello }] }]\n`,
  );
  assert(!text.includes("<code>"), text);
  const { markdown } = await readReports({ markdown: [text] });
  for (const html of markdown![0] as readonly string[]) {
    const shown = "get_user_by_id [admin] &lt;b&gt; &amp; *all* | none";
    assertStringIncludes(html, `<td>${shown}</td>`);
  }
});

Deno.test("a long failure leaves room in Markdown for the next one", async () => {
  const get = "{url}/status/404";
  const headers = { "x-long": "h".repeat(9000) };
  const jobs = Array.from({ length: 10 }, (_, index) => {
    const test = `res.code == ${index}`;
    return {
      name: `j${index}`,
      steps: [{ name: "s", uses: "http", with: { get, headers }, test }],
    };
  });
  const text = await markdownOf(JSON.stringify({ name: "n", jobs }));
  assertEquals(text.match(/<summary>/g)?.length, 10);
  assertMatch(text, /h{500}… \(\d+ more characters\)\n```\n/);
});
