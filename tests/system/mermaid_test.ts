import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { type Page, withPage } from "../support/programs/browser.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const LIBRARY = fromFileUrl(
  new URL("../tools/node_modules/mermaid/dist/mermaid.min.js", import.meta.url),
);

interface TestJob {
  readonly id: string;
  readonly name: string;
  readonly needs?: readonly string[];
  readonly steps: readonly string[];
}

/** Returns the output of the program for these jobs; JSON is YAML. */
async function flowchart(jobs: readonly TestJob[]): Promise<string> {
  const steps = (names: readonly string[]) => names.map((name) => ({ name, uses: "hello" }));
  const workflow = { name: "n", jobs: jobs.map((job) => ({ ...job, steps: steps(job.steps) })) };
  return await withFiles({ "w.yml": JSON.stringify(workflow) }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["dag", "--mermaid", "w.yml"], { cwd });
    assertEquals([code, stderr, stdout.split("\n")[0]], [0, "", "flowchart LR"]);
    return stdout;
  });
}

interface Rendered {
  readonly jobs: readonly string[];
  readonly steps: readonly string[];
  readonly edges: number;
}

/** The texts in the picture that Mermaid draws, sorted. Throws what Mermaid throws. */
async function render(page: Page, text: string): Promise<Rendered> {
  const drawn = await page.evaluate(`(async () => {
    const { svg } = await mermaid.render("picture", ${JSON.stringify(text)});
    document.body.innerHTML = svg;
    const texts = (selector) =>
      [...document.querySelectorAll(selector)].map((label) => label.textContent).sort();
    return {
      jobs: texts(".cluster-label .nodeLabel"),
      steps: texts(".node .nodeLabel"),
      edges: document.querySelectorAll(".edgePaths path").length,
    };
  })()`);
  return drawn as Rendered;
}

function withMermaid<T>(use: (page: Page) => Promise<T>): Promise<T> {
  return withPage(async (page) => {
    await page.addScript(LIBRARY);
    await page.evaluate("mermaid.initialize({ startOnLoad: false })");
    return await use(page);
  });
}

async function check(page: Page, jobs: readonly TestJob[]): Promise<void> {
  assertEquals(await render(page, await flowchart(jobs)), {
    jobs: jobs.map(({ name }) => name).sort(),
    steps: jobs.flatMap(({ steps }) => steps).sort(),
    edges: jobs.reduce((sum, { needs = [] }) => sum + needs.length, 0),
  });
}

const NAMES = [
  ...[`"quoted"`, "it's", "[brackets]", "(round)", "{curly}", "{{vars.nothing}}", "|pipe|"],
  ...["end", "graph TD", "subgraph x", "a --> b", "a;b", "x %% y", "%%{init: {}}%%", ":::x"],
  ...["#1", "#quot;", "&amp;", "&lt;b&gt;", "<script>alert(1)</script>", "<b>bold</b>", "a < b"],
  ...["`code`", "```code```", "*a* **b**", "_a_ __b__ snake_case", "~~c~~", "# head", "> quote"],
  ...[
    "1. build",
    "1) build",
    "- build",
    "+ build",
    "---",
    "===",
    "***",
    "___",
    "[a](b)",
    "![a](b)",
  ],
  ...["http://example.com/a_b", "www.example.com", "me@example.com", "C:\\new\\dir", "$$x^2$$"],
  ...["fa:fa-car", "@{ shape: x }", "部署 🚀", "שלום", "100%", "a | b & c", "\\"],
];

Deno.test("Mermaid shows every name as it is", async () => {
  await withMermaid(async (page) => {
    const jobs = NAMES.map((name, index) => ({ id: `j${index}`, name, steps: [name, "x"] }));
    await check(page, jobs);
    assertEquals(page.errors, []);
  });
});

const IDS = [
  ...["end", "graph", "flowchart", "subgraph", "style", "linkStyle", "classDef", "class", "click"],
  ...["href", "call", "default", "interpolate", "direction", "LR", "o", "x", "v", "_blank", "_top"],
  ...["constructor", "toString", "__proto__", "a-b", "a_b", "a.b", "1", "2nd", "42", "n1", "--"],
  ...["a_b_step0", "end_2", "日本", "a b", "End", "-", "node", "root"],
];

Deno.test("Mermaid accepts any job id and draws the needs", async () => {
  await withMermaid(async (page) => {
    const jobs = IDS.map((id, index) => ({
      id,
      name: `job ${index}`,
      needs: IDS.slice(Math.max(0, index - 2), index),
      steps: [`step ${index}`],
    }));
    await check(page, jobs);
    assertEquals(page.errors, []);
  });
});

Deno.test("Mermaid draws 300 jobs within its own limits", async () => {
  await withMermaid(async (page) => {
    const jobs = Array.from({ length: 300 }, (_, index) => ({
      id: `job-${index}`,
      name: `Job ${index}`,
      needs: index < 10 ? [] : [`job-${index - 10}`],
      steps: ["say hello"],
    }));
    await check(page, jobs);
  });
});

Deno.test("Mermaid rejects an invalid flowchart", async () => {
  await withMermaid(async (page) => {
    const broken = await render(page, "flowchart LR\n  end --> [").catch((error) => String(error));
    assertEquals(/Parse error/.test(String(broken)), true, String(broken));
  });
});
