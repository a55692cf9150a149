import { assert, assertEquals, assertMatch } from "@std/assert";
import { readReports } from "../../support/programs/read_reports.ts";
import { runReports } from "../../support/run/run_reports.ts";
import { HOSTILE_NAMES, hostileWorkflow, inOneLine } from "./hostile_run.ts";

const RUN = (async () => {
  const { code, reports } = await runReports({ "w.yml": hostileWorkflow() });
  assertEquals(code, 1);
  const read = await readReports({
    junit: [reports["junit.xml"]!],
    tap: [reports["report.tap"]!],
    ctrf: [reports["ctrf.json"]!],
    markdown: [reports["summary.md"]!],
  });
  return { reports, read };
})();

interface Element {
  readonly name: string;
  readonly testcase: readonly Element[];
  readonly failure: readonly { readonly inner: string }[];
  readonly "system-out": readonly string[];
}

/** Removes characters that XML does not allow; line ends and tabs of names become spaces. */
function inXml(name: string): string {
  return name.replaceAll("\r\n", "\n")
    // deno-lint-ignore no-control-regex
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, "\ufffd");
}

Deno.test("a JUnit reader finds names and texts as they are, but for what XML forbids", async () => {
  const { reports, read: { junit } } = await RUN;
  // deno-lint-ignore no-control-regex
  assert(!/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/.test(reports["junit.xml"]!));
  const [{ testsuite: [all, ...others] }] = junit as [{ testsuite: [Element, ...Element[]] }];
  const plain = (name: string) => inXml(name).replace(/\s+/g, " ").trim();
  assertEquals(all.testcase.map(({ name }) => plain(name)), HOSTILE_NAMES.map(plain));
  assertEquals(others.map(({ name }) => plain(name)), HOSTILE_NAMES.map(plain));
  for (const [index, one] of all.testcase.entries()) {
    const said = one["system-out"][0]!.split("request:")[0]!;
    assertEquals(plain(said), plain(HOSTILE_NAMES[index]!));
  }
});

interface TapTest {
  readonly name: string;
  readonly ok: boolean;
  readonly skip: unknown;
  readonly diag: { readonly echo: string };
  readonly child: { readonly tests: readonly TapTest[]; readonly noise: unknown };
}

Deno.test("a TAP parser finds names and texts as they are, and no directives in them", async () => {
  const { read: { tap } } = await RUN;
  const [{ tests, bailout, noise, errors }] = tap as [Record<string, unknown>];
  assertEquals([bailout, noise, errors], [false, [], []]);
  const [all, ...others] = tests as [TapTest, ...TapTest[]];
  assertEquals(all.child.noise, []);
  const names = HOSTILE_NAMES.map((name) => inOneLine(name).toWellFormed());
  assertEquals(all.child.tests.map(({ name }) => name), names);
  assertEquals(others.map(({ name }) => name), names);
  for (const [index, { ok, skip, diag }] of all.child.tests.entries()) {
    assertEquals([ok, skip], [false, false]);
    assertEquals(
      diag.echo.replace(/\s+/g, " ").trim(),
      names[index]!.replace(/[\ufffe\uffff]/g, "\ufffd"),
    );
  }
});

Deno.test("a CTRF report has names as they are", async () => {
  const { reports, read: { ctrf } } = await RUN;
  assertEquals(ctrf, [[]]);
  const { tests } = JSON.parse(reports["ctrf.json"]!).results;
  const names = tests.map(({ name }: { name: string }) => inOneLine(name));
  const suffix = (name: string) => `all › ${inOneLine(name)}`.trim();
  assertEquals(names.slice(0, HOSTILE_NAMES.length), HOSTILE_NAMES.map(suffix));
});

/** The elements that the report itself is made of. */
const OWN_TAGS = "h2 h3 p strong table thead tbody tr th td code details summary pre".split(" ");

Deno.test("nothing from outside becomes markup in Markdown", async () => {
  const { read: { markdown } } = await RUN;
  for (const html of markdown![0] as readonly string[]) {
    const tags = new Set([...html.matchAll(/<(\w+)/g)].map(([, tag]) => tag!));
    assertEquals([...tags].filter((tag) => !OWN_TAGS.includes(tag)), []);
    // GitHub makes links in text, but not in code.
    const outside = html.replace(/<(code|pre)[ >].*?<\/\1>/gs, "").replace(/<[^>]*>/g, "");
    assertEquals(decode(outside).match(/@\w|#\d|:\w+:|GH-\d|https?:|www\./g), null);
    const rows = [...html.matchAll(/<tr>\s*(?:<td.*?<\/td>\s*)+<\/tr>/gs)].map(([row]) =>
      [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell]) => textIn(cell!))
    );
    assertEquals(rows.map((row) => row.length), rows.map(() => 6));
    const names = HOSTILE_NAMES.map((name) => inOneLine(name).replace(/[\ufffe\uffff]/g, "\ufffd"));
    assertEquals(rows.map(([, name]) => name!.replace(/[\ufffe\uffff]/g, "\ufffd")), [
      "all",
      ...names,
    ]);
    const summaries = [...html.matchAll(/<summary>(.*?)<\/summary>/gs)].map(([, text]) =>
      textIn(text!).replace(/[\ufffe\uffff]/g, "\ufffd")
    );
    assertEquals(summaries, names.map((name) => `all › ${name} (w.yml:1)`));
  }
});

function textIn(html: string): string {
  return decode(html.replace(/<[^>]*>/g, ""));
}

const ENTITIES: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  quot: '"',
  amp: "&",
};

function decode(html: string): string {
  return html.replace(
    /&(?:#(\d+)|(\w+));/g,
    (_, code, name) => code ? String.fromCodePoint(Number(code)) : ENTITIES[name]!,
  );
}

Deno.test("Markdown is cut where a comment would be too long", async () => {
  const steps = Array.from({ length: 60 }, (_, index) => ({
    name: `number ${index}`,
    uses: "hello",
    with: { text: "`".repeat(1500), more: "x".repeat(1500) },
    test: `status > ${index}`,
  }));
  const jobs = Array.from({ length: 210 }, (_, index) => {
    return { name: `job ${index}`, steps: index === 0 ? steps : [{ uses: "hello" }] };
  });
  const { reports } = await runReports({ "w.yml": JSON.stringify({ name: "n", jobs }) });
  const text = reports["summary.md"]!;
  assert(new TextEncoder().encode(text).length < 60_100);
  assertMatch(text, /\n… and 10 more jobs\n/);
  assertMatch(text, /<\/details>\n\n… \(there is more than fits in here\)\n$/);
  const { markdown } = await readReports({ markdown: [text] });
  for (const html of markdown![0] as readonly string[]) {
    assertEquals(html.match(/<details/g)!.length, html.match(/<\/details/g)!.length);
  }
});
