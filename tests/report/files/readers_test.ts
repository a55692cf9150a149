import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readClosedSchema, validateAll } from "../../support/programs/ajv.ts";
import { readReports } from "../../support/programs/read_reports.ts";
import { runReports } from "../../support/run/run_reports.ts";
import { RICH_CASES, RICH_FILES, type RichCase } from "./rich_run.ts";

/** The run, and what readers of others make of its reports; it is the same for all tests. */
const RUN = (async () => {
  const { code, stdout, reports } = await runReports(RICH_FILES);
  const read = await readReports({
    junit: [reports["junit.xml"]!],
    tap: [reports["report.tap"]!],
    ctrf: [reports["ctrf.json"]!],
    markdown: [reports["summary.md"]!],
  });
  return { code, stdout, reports, read };
})();

interface Testcase {
  readonly name: string;
  readonly classname: string;
  readonly file?: string;
  readonly line?: number;
  readonly time: number;
  readonly failure?: readonly Problem[];
  readonly error?: readonly Problem[];
  readonly skipped?: readonly Problem[];
  readonly flakyFailure?: unknown;
  readonly properties?: readonly { readonly name: string; readonly value: unknown }[];
  readonly "system-out"?: readonly string[];
}

interface Problem {
  readonly message: string;
  readonly type: string;
  readonly inner?: string;
}

interface Testsuite {
  readonly name: string;
  readonly tests: number;
  readonly failures: number;
  readonly errors: number;
  readonly skipped: number;
  readonly time: number;
  readonly properties: Testcase["properties"];
  readonly testcase: readonly Testcase[];
}

function count(cases: readonly RichCase[]) {
  const of = (outcome: RichCase["outcome"]) =>
    cases.filter((one) => one.outcome === outcome).length;
  return {
    tests: cases.length,
    failures: of("failed"),
    errors: of("error"),
    skipped: of("skipped"),
  };
}

Deno.test("a JUnit reader finds every case, with how it came out, why and where", async () => {
  const { code, read: { junit } } = await RUN;
  assertEquals(code, 1);
  const [{ testsuite, ...all }] = junit as [Testsuite & { testsuite: readonly Testsuite[] }];
  assertEquals(all.name, "Shop & <co> #1");
  const counts = ({ tests, failures, errors, skipped }: Testsuite) => {
    return { tests, failures, errors, skipped };
  };
  assertEquals(counts(all as Testsuite), count(RICH_CASES));
  const found = testsuite.flatMap((suite) => {
    const expected = RICH_CASES.filter((one) => one.suite === suite.name);
    assertEquals(counts(suite), count(expected), suite.name);
    return suite.testcase.map((one) => {
      assertEquals(one.classname, `Shop & <co> #1.${suite.name}`);
      assert(one.time >= 0 && suite.time >= 0);
      const outcome = one.failure
        ? "failed"
        : one.error
        ? "error"
        : one.skipped
        ? "skipped"
        : "passed";
      return {
        suite: suite.name,
        name: one.name,
        outcome,
        ...one.skipped ? { reason: one.skipped[0]!.message } : {},
        ...one.line === undefined ? {} : { at: `${one.file}:${one.line}` },
        ...one.flakyFailure ? { flaky: true } : {},
      };
    });
  });
  assertEquals<unknown>(found, RICH_CASES);
});

Deno.test("a JUnit reader finds messages, requests, responses and failures", async () => {
  const { read: { junit } } = await RUN;
  const [{ testsuite }] = junit as [{ testsuite: readonly Testsuite[] }];
  assertEquals(testsuite[0]!.properties?.slice(0, 1), [{ name: "job", value: "orders" }]);
  assertEquals(testsuite[3]!.properties?.slice(0, 2), [
    { name: "job", value: "needs" },
    { name: "needs", value: "orders" },
  ]);
  assertEquals(testsuite[1]!.properties?.[1], { name: "rounds", value: 2 });
  const find = (name: string) => testsuite[0]!.testcase.find((one) => one.name === name)!;
  const good = find("good")["system-out"]![0]!;
  // What passed is not explained: reports of thousands of rows stay small.
  assertEquals(good, "said\tso");
  assertEquals(find("good").properties, [
    { name: "action", value: "http" },
    { name: "id", value: "good" },
  ]);
  const wrong = find("wrong");
  assertEquals(wrong.failure![0]!.type, "test");
  assertEquals(wrong.failure![0]!.message, "test is false: res.code is 500 (int)");
  assertStringIncludes(wrong.failure![0]!.inner!, "w.yml:20:15: test is false\n");
  assertStringIncludes(wrong["system-out"]![0]!, "500 Internal Server Error");
  assertEquals(find("refused").error![0]!.type, "action");
  assertStringIncludes(find("refused").error![0]!.message, "refused the connection");
  const names = (name: string) => find(name).properties!.map(({ name, value }) => [name, value]);
  assertEquals(names("shell"), [["action", "shell"], ["untested", "true"]]);
  assertEquals(names("flaky"), [["action", "http"], ["attempts", 3], ["flaky", "true"]]);
  assertEquals(names("never good"), [["action", "http"], ["attempts", 2]]);
  assertStringIncludes(find("never good")["system-out"]![0]!, "attempts: 1–2 test is false");
  const embedded = testsuite[2]!.testcase;
  const login = embedded[0]!;
  assertStringIncludes(login.failure![0]!.message, "test is false");
  assertStringIncludes(login.failure![0]!.inner!, "jobs/login.yml:8:11: token: test is false");
  assertStringIncludes(login["system-out"]![0]!, "failed: token\n");
});

interface TapTest {
  readonly ok: boolean;
  readonly name: string;
  readonly skip: false | string;
  readonly time: number | null;
  readonly diag: Readonly<Record<string, unknown>> | null;
  readonly child?: TapTree;
}

interface TapTree {
  readonly plan: number;
  readonly bailout: boolean | string;
  readonly tests: readonly TapTest[];
  readonly noise: readonly string[];
  readonly errors: readonly unknown[];
}

Deno.test("a TAP parser finds every case, with how it came out, why and where", async () => {
  const { read: { tap } } = await RUN;
  const [tree] = tap as [TapTree];
  assertEquals([tree.bailout, tree.plan, tree.errors, tree.noise], [false, 8, [], []]);
  const found = tree.tests.flatMap(({ name: suite, ok, skip, child }) => {
    const expected = RICH_CASES.filter((one) => one.suite === suite);
    assertEquals([child!.plan, child!.errors, child!.noise], [expected.length, [], []]);
    assertEquals(
      ok,
      expected.every(({ outcome }) => outcome === "passed" || outcome === "skipped"),
    );
    const reason = suite === "Off (2)" ? undefined : expected[0]!.reason;
    assertEquals(skip, expected.every(({ outcome }) => outcome === "skipped") && reason || false);
    return child!.tests.map(({ name, ok, skip, diag }) => {
      const at = diag?.at as { file: string; line: number } | undefined;
      const severity = diag?.severity === "fail" ? "failed" : diag?.severity;
      return {
        suite,
        name,
        outcome: skip !== false ? "skipped" : ok ? "passed" : severity,
        ...skip === false ? {} : { reason: skip },
        ...at ? { at: `${at.file}:${at.line}` } : {},
        ...diag?.flaky ? { flaky: true } : {},
      };
    });
  });
  // Passed cases need no place.
  const expected = RICH_CASES.map(({ at, ...one }) =>
    at && /failed|error/.test(one.outcome) ? { ...one, at } : one
  );
  assertEquals<unknown>(found, expected);
});

Deno.test("a TAP parser finds messages, requests, responses and failures", async () => {
  const { read: { tap } } = await RUN;
  const [tree] = tap as [TapTree];
  const { tests } = tree.tests[0]!.child!;
  const find = (name: string) => tests.find((one) => one.name === name)!;
  assertEquals(find("good").diag, { echo: "said\tso" });
  assert(find("good").time! > 0);
  const { message, exchange } = find("wrong").diag as Record<string, string>;
  assert(message!.startsWith("w.yml:20:15: test is false\n  20 | "), message);
  assertStringIncludes(message!, "res.code is 500 (int)");
  assertStringIncludes(exchange!, "response:\n  500 Internal Server Error");
  assertEquals(find("shell").diag, { untested: true });
  assertEquals(find("flaky").diag, {
    attempts: 3,
    flaky: true,
    tried: "attempts: 1–2 test is false, 3 passed",
  });
});

Deno.test("a CTRF report is valid, and contains every case", async () => {
  const { reports, read: { ctrf } } = await RUN;
  assertEquals(ctrf, [[]]);
  const { results } = JSON.parse(reports["ctrf.json"]!);
  const { tests, failures, errors, skipped } = count(RICH_CASES);
  const { passed, failed, start, stop, duration, extra, ...summary } = results.summary;
  assert(extra.notTested > 0);
  const other = extra.notTested;
  assertEquals([passed + other, failed], [tests - failures - errors - skipped, failures + errors]);
  assertEquals(summary, { tests, skipped, pending: 0, other, flaky: 1, suites: 8 });
  assert(start <= stop && duration >= 0);
  // deno-lint-ignore no-explicit-any
  const found = results.tests.map((one: any) => ({
    suite: one.suite[1],
    name: one.name.slice(one.suite[1].length + 3),
    outcome: one.rawStatus === "not tested" ? "passed" : one.status,
    ...one.status === "skipped" ? { reason: one.message } : {},
    ...one.line ? { at: `${one.filePath}:${one.line}` } : {},
    ...one.flaky ? { flaky: true } : {},
  }));
  const expected = RICH_CASES.map((one) =>
    one.outcome === "error" ? { ...one, outcome: "failed" } : one
  );
  assertEquals(found, expected);
  const login = results.tests.find((one: Record<string, unknown>) => one.steps);
  assertEquals(login.steps, [
    { name: "fine", status: "passed" },
    { name: "token", status: "failed" },
  ]);
  const flaky = results.tests.find((one: Record<string, unknown>) => one.flaky);
  assertEquals(flaky.retries, 2);
  assertEquals(flaky.retryAttempts.map((one: Record<string, unknown>) => one.status), [
    "failed",
    "failed",
  ]);
  const wrong = results.tests[1];
  assertEquals(wrong.snippet, "test: res.code == 200");
  assertStringIncludes(wrong.trace, "w.yml:20:15: test is false");
});

Deno.test("markdown shows the jobs, the failures and flaky steps", async () => {
  const { read: { markdown } } = await RUN;
  for (const html of markdown![0] as readonly string[]) {
    const rows = [...html.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) =>
      [...row!.matchAll(/<t[dh][^>]*>(.*?)<\/t[dh]>/gs)].map(([, cell]) => cell)
    );
    assertEquals(
      rows.map((row) => row.slice(1, 5)),
      [
        ["Job", "Steps", "Failed", "Skipped"],
        ["Orders", "9", "3", "1"],
        ["Rounds", "4", "1", "0"],
        ["Embeds", "1", "1", "0"],
        ["Needs – needs &quot;orders&quot;, which failed", "2", "0", "2"],
        ["Off – skipif is true: true", "1", "0", "1"],
        ["Broken", "1", "0", "1"],
        ["Off (2)", "1", "0", "1"],
        ["Entries", "2", "0", "0"],
      ].map((row) => row.map((cell) => cell.replace(/<\/?code>/g, ""))),
    );
    const failures = [...html.matchAll(/<summary>(.*?)<\/summary>/gs)].map(([, text]) =>
      text!.replace(/<[^>]*>/g, "")
        .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    );
    const expected = RICH_CASES.filter(({ outcome }) =>
      outcome === "failed" || outcome === "error"
    );
    assertEquals(failures, expected.map(({ suite, name, at }) => `${suite} › ${name} (${at})`));
    assertStringIncludes(html, "<li>Orders › flaky: passed on attempt 3</li>");
    assertStringIncludes(html, "500 Internal Server Error");
  }
});

Deno.test("the schemas in docs/ describe the JSON report and the events", async () => {
  const { reports } = await RUN;
  const events = reports["events.ndjson"]!.trimEnd().split("\n").map((line) => JSON.parse(line));
  const documents = [
    ["report.schema.json", { report: JSON.parse(reports["report.json"]!) }],
    ["events.schema.json", Object.fromEntries(events.entries())],
  ] as const;
  for (const [name, values] of documents) {
    const errors = Object.values(validateAll(await readClosedSchema(name), values)).flat();
    assertEquals([name, errors], [name, []]);
  }
});

type Definitions = Readonly<Record<string, unknown>>;

Deno.test("both schemas agree on their common parts", async () => {
  const [report = {}, events = {}] = await Promise.all(
    ["report", "events"].map(async (name) =>
      (await readClosedSchema(`${name}.schema.json`) as { readonly $defs: Definitions }).$defs
    ),
  );
  const shared = Object.keys(report).filter((name) => name in events);
  assertEquals(shared, [
    "messageView",
    "spot",
    "place",
    "operand",
    "failure",
    "attempt",
    "outline",
    "exchange",
    "loadOutline",
    "loadStepStats",
    "loadStats",
    "trace",
  ]);
  for (const name of shared) assertEquals(report[name], events[name]);
});

Deno.test("the text report and the page show flaky steps, too", async () => {
  const { stdout, reports } = await RUN;
  assertStringIncludes(stdout, " 1 flaky");
  assertStringIncludes(reports["report.html"]!, '"flaky":true');
  assertStringIncludes(reports["events.ndjson"]!, '"flaky":true');
  const json = JSON.parse(reports["report.json"]!);
  assertEquals(json.totals.flaky, 1);
  const flaky = json.jobs[0].steps.filter((one: Record<string, unknown>) => one.flaky);
  assertEquals(flaky.map((one: Record<string, unknown>) => one.name), ["flaky"]);
});

Deno.test("reports contain parsed bodies without their raw text", async () => {
  const { reports } = await RUN;
  const { res } = JSON.parse(reports["report.json"]!).jobs[0].steps[0].exchange;
  assertEquals([res.code, res.body], [200, { path: "/status/200" }]);
  for (const text of Object.values(reports)) assert(!text.includes('rawbody"'));
});

Deno.test("every case has a name of its own in every report", async () => {
  const { reports, read: { junit } } = await RUN;
  const [{ testsuite }] = junit as [{ testsuite: readonly Testsuite[] }];
  const inJunit = testsuite.flatMap(({ testcase }) =>
    testcase.map(({ classname, name }) => `${classname} › ${name}`)
  );
  const inCtrf = JSON.parse(reports["ctrf.json"]!).results.tests.map(
    ({ name }: { name: string }) => name,
  );
  assertEquals(new Set(inJunit).size, RICH_CASES.length);
  assertEquals(new Set(inCtrf).size, RICH_CASES.length);
});
