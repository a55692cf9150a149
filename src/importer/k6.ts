import { parseScript, type SyntaxNode } from "../expr/parse/scanner.ts";
import type { Dict, Value } from "../base/value/value.ts";
import type { Draft, DraftJob } from "../openapi/gen/draft.ts";
import { snakeCase, UniqueNames } from "../openapi/gen/templates.ts";
import { Names } from "./import_names.ts";
import { dictOf, type ImportFile, type ImportInput, problemAt } from "./input.ts";
import { otherOptions, type Scenario, scenariosOf, thresholdsOf } from "./k6/options.ts";
import { formatDuration } from "../base/value/duration.ts";
import { K6Script } from "./k6/script.ts";
import type { Known } from "./k6/known.ts";

/** Makes a workflow of a script of k6: a job for each scenario. */
export function translateK6({ files: [file] }: ImportInput): Draft {
  const names = new Names();
  const notes: string[] = [];
  const statements = parse(file!);
  notes.push(...otherStatements(statements, file!));
  const module = new K6Script(file!.text, names);
  const options = module.moduleOf(statements).find("options");
  notes.push(...module.notes);
  module.notes = notes;
  const settings = dictOf(options && module.constantOf(options));
  if (options && options.type !== "map") notes.push("the options, which a program makes");
  notes.push(...otherOptions(settings));
  const ids = new UniqueNames();
  // Steps are made when all is read: later jobs want outputs of earlier ones.
  const jobs: (() => DraftJob)[] = [];
  const around = { file: file!, statements, names };
  const setup = made("setup", around, undefined, []);
  const given = setup ? [setup.result] : [];
  const hasSetup = setup !== undefined && setup.script.steps.length > 0;
  if (setup) {
    const id = ids.take("setup");
    jobs.push(() => jobOf("Setup", setup.script, { id }, settings));
  }
  const scenarios = scenariosOf(settings).map((scenario) => ({
    scenario,
    id: ids.take(snakeCase(scenario.name) ?? "load"),
  }));
  for (const { scenario, id } of scenarios) {
    const done = made(scenario.exec, around, scenario, given);
    if (!done) {
      throw problemAt(file!, 0, `there is no function "${scenario.exec}" to run`, NO_SCRIPT);
    }
    jobs.push(() =>
      loadJob(scenario, done.script, {
        ...scenarios.length > 1 ? { id } : {},
        ...hasSetup ? { needs: ["setup"] } : {},
      }, settings)
    );
  }
  const teardown = made("teardown", around, undefined, given);
  if (teardown) {
    jobs.push(() => ({ ...jobOf("Teardown", teardown.script, {}, settings), isFinally: true }));
  }
  const title = file!.name.replace(/^.*[/\\]|\.[cm]?[jt]s$/g, "");
  const all = jobs.map((make) => make());
  const sent = all.filter(({ steps }) => steps.length > 0);
  for (const { steps, notes: lost = [] } of all) if (steps.length === 0) notes.push(...lost);
  if (sent.length === 0) {
    throw problemAt(file!, 0, "no request of this script can be translated", NO_SCRIPT);
  }
  return { name: title, vars: names.vars, jobs: sent, notes: [...notes, ...names.notes] };
}

const NO_SCRIPT = "a script of k6 sends requests by http.get and the like in its functions";

function parse(file: ImportFile): readonly SyntaxNode[] {
  try {
    return parseScript(file.text, "module");
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    const { pos = 0 } = error as SyntaxError & { readonly pos?: number };
    const message = error.message.replace(/ \(\d+:\d+\)$/, "");
    const hint = "TypeScript must be compiled first";
    throw problemAt(file, pos, `invalid JavaScript: ${message}`, hint);
  }
}

interface Module {
  readonly file: ImportFile;
  readonly statements: readonly SyntaxNode[];
  readonly names: Names;
}

/** What a module has outside of its functions that is not translated. */
function otherStatements(statements: readonly SyntaxNode[], { text }: ImportFile): string[] {
  return statements.flatMap((statement) => {
    if (statement.type === "ImportDeclaration") {
      const from = String(statement.source.value);
      return /^\.{0,2}\//.test(from)
        ? [`the import of ${from}: put its functions into this file`]
        : [];
    }
    const source = text.slice(statement.start, statement.end);
    if (/^export (?:async )?function handleSummary\b/.test(source)) return ["handleSummary"];
    const metrics = source.matchAll(/(\w+)\s*=\s*new (?:\w+\.)?(Trend|Rate|Counter|Gauge)\(/g);
    return [...metrics].map(([, name, kind]) => `the metric ${name}, a ${kind}`);
  });
}

/** Translates a function of the script, which gets what `setup` returned. */
function made(
  name: string,
  { file, statements, names }: Module,
  scenario: Scenario | undefined,
  given: readonly Known[],
): { readonly script: K6Script; readonly result: Known } | undefined {
  const script = new K6Script(file.text, names);
  const found = script.moduleOf(statements).find(name);
  if (found?.type !== "function") return undefined;
  script.hasRounds = scenario?.load !== undefined;
  script.takesRows = scenario !== undefined;
  script.env = scenario?.env ?? {};
  // What is unknown of the module is noted for the whole file.
  script.notes = [];
  return { script, result: script.call(found, given) };
}

/** The job of a scenario. */
function loadJob(scenario: Scenario, script: K6Script, keys: Dict, settings: Dict): DraftJob {
  const { rowsFile } = script;
  const job = jobOf(scenario.name || "Load", script, {}, settings);
  const thresholds = thresholdsOf(
    dictOf(settings.thresholds),
    scenario.name || "default",
    script.steps.map(({ tags, request }, index) => {
      const { id, name } = job.steps[index]!.data;
      return { key: String(id ?? name), url: request.url, tags };
    }),
  );
  const { expect, stopIf } = thresholds;
  // k6 without options runs one round, which may have thresholds.
  const needsLoad = rowsFile !== undefined || expect.length > 0;
  const load = scenario.load ?? (needsLoad ? { users: 1, count: 1 } : undefined);
  const rest: Dict = {
    ...script.pause > 0 && load && !scenario.isOpen
      ? { think_time: formatDuration(script.pause * 1000) }
      : {},
    ...rowsFile === undefined ? {} : { data: { file: rowsFile } },
    ...expect.length === 0 ? {} : { expect: expect.length === 1 ? expect[0]! : expect as Value },
    ...stopIf.length === 0 ? {} : { stop_if: stopIf.join(" || ") },
  };
  return {
    ...job,
    keys: { ...keys, ...job.keys, ...load ? { load: { ...load, ...rest } } : {} },
    notes: [...scenario.notes, ...thresholds.notes, ...job.notes ?? []],
  };
}

function jobOf(name: string, script: K6Script, keys: Dict, settings: Dict): DraftJob {
  const { insecureSkipTLSVerify, userAgent, maxRedirects } = settings;
  const http: Dict = {
    ...insecureSkipTLSVerify === true ? { tls: { verify: false } } : {},
    ...typeof userAgent === "string" ? { headers: { "User-Agent": userAgent } } : {},
    ...maxRedirects === 0 ? { follow_redirects: false } : {},
  };
  return {
    name,
    keys: { ...keys, ...Object.keys(http).length > 0 ? { defaults: { http } } : {} },
    steps: script.steps.map(({ request }) => request.step()),
    notes: script.notes,
  };
}
