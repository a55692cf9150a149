import { parseScript, type SyntaxNode } from "../expr/parse/scanner.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import type { Draft, DraftJob } from "../openapi/gen/draft.ts";
import { snakeCase, UniqueNames } from "../openapi/gen/templates.ts";
import { Names } from "./import_names.ts";
import { type ImportFile, type ImportInput, problemAt } from "./input.ts";
import { otherOptions, type Scenario, scenariosOf, thresholdsOf } from "./k6/options.ts";
import { secondsText } from "./k6/requests.ts";
import { K6Script } from "./k6/script.ts";
import { bind, type FunctionThing, lookUp, type Scope, type Thing } from "./k6/scope.ts";
import { K6Values } from "./k6/values.ts";
import { sourceOf } from "./script_values.ts";

/** Makes a workflow of a script of k6: a job for each scenario. */
export function translateK6({ files: [file] }: ImportInput): Draft {
  const names = new Names();
  const notes: string[] = [];
  const values = new K6Values(file!.text, names, (text) => notes.push(text));
  const scope = scopeOf(parse(file!), values, notes);
  const options = lookUp("options", scope)?.thing;
  const read = options?.type === "node" ? values.constant(options.node, options.scope) : {};
  const settings: Dict = isDict(read ?? null) ? read as Dict : {};
  if (read === undefined) notes.push("the options, which a program makes");
  notes.push(...otherOptions(settings));
  const ids = new UniqueNames();
  // Steps are made when all is read: later jobs want outputs of earlier ones.
  const jobs: (() => DraftJob)[] = [];
  const around = { file: file!, names, scope, settings };
  const setup = made("setup", around, undefined, []);
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
    const done = made(scenario.exec, around, scenario, setup?.result ? [setup.result] : []);
    if (!done) {
      throw problemAt(file!, 0, `there is no function "${scenario.exec}" to run`, NO_SCRIPT);
    }
    const before = scenario.start > 0
      ? scenarios.find(({ scenario: { start, length } }) => start + length === scenario.start)
      : undefined;
    const needs = [...hasSetup ? ["setup"] : [], ...before ? [before.id] : []];
    if (scenario.start > 0 && !before) done.script.notes.push(`startTime: ${scenario.start}s`);
    jobs.push(() =>
      loadJob(scenario, done.script, {
        ...scenarios.length > 1 || before ? { id } : {},
        ...needs.length > 0 ? { needs } : {},
        ...before ? { when: "always" } : {},
      }, settings)
    );
  }
  const teardown = made("teardown", around, undefined, setup?.result ? [setup.result] : []);
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
    throw problemAt(
      file,
      pos,
      `invalid JavaScript: ${message}`,
      "TypeScript must be compiled first",
    );
  }
}

/** The names of the module. */
function scopeOf(
  statements: readonly SyntaxNode[],
  values: K6Values,
  notes: string[],
): Scope {
  const source = { text: values.source, aliases: new Map() };
  let scope: Scope;
  const functions: Scope[] = [];
  const put = (name: string, node: SyntaxNode) => {
    scope = bind(name, { type: "node", node, scope }, scope, true);
    if (/Function/.test(node.type)) functions.push(scope);
  };
  for (const statement of statements) {
    const isExport = /^Export(?:Named|Default)Declaration$/.test(statement.type);
    const declared = isExport
      ? (statement as unknown as { declaration: SyntaxNode | null }).declaration
      : statement;
    if (declared?.type === "VariableDeclaration") {
      for (const { id, init } of declared.declarations) {
        if (id.type !== "Identifier" || !init) continue;
        put(id.name, init);
        const [, kind] =
          /^new (?:\w+\.)?(Trend|Rate|Counter|Gauge)\(/.exec(sourceOf(init, source)) ?? [];
        if (kind !== undefined) notes.push(`the metric ${id.name}, a ${kind}`);
      }
    } else if (declared?.type === "FunctionDeclaration" && declared.id) {
      put(declared.id.name, declared);
    }
    if (statement.type === "ExportDefaultDeclaration") {
      put("default", statement.declaration as SyntaxNode);
    } else if (statement.type === "ImportDeclaration") {
      const from = String(statement.source.value);
      if (/^\.{0,2}\//.test(from)) {
        notes.push(`the import of ${from}: put its functions into this file`);
      }
    }
  }
  // A function sees all names of its module, also those after it.
  for (const one of functions) {
    if (one?.thing.type === "node") (one.thing as { scope: Scope }).scope = scope;
  }
  return scope;
}

interface Around {
  readonly file: ImportFile;
  readonly names: Names;
  readonly scope: Scope;
  readonly settings: Dict;
}

/** Translates a function of the script, which gets what others returned. */
function made(
  name: string,
  { file, names, scope }: Around,
  scenario: Scenario | undefined,
  given: readonly Thing[],
): { readonly script: K6Script; readonly result: Thing | undefined } | undefined {
  const script = new K6Script(file.text, names);
  const found = lookUp(name, scope);
  const thing = found?.thing.type === "node"
    ? script.values.resolve(found.thing.node, found.thing.scope)
    : undefined;
  if (thing?.type !== "node" || !/Function/.test(thing.node.type)) return undefined;
  script.values.hasRounds = scenario?.load !== undefined;
  script.values.env = scenario?.env ?? {};
  let outside = scope;
  const args = given.map((thing, index) => {
    outside = bind(`#given${index}`, thing, outside);
    return { type: "Identifier", name: `#given${index}`, start: 0, end: 0 } as SyntaxNode;
  });
  return { script, result: script.run(thing as FunctionThing, args, outside) };
}

/** The job of a scenario. */
function loadJob(scenario: Scenario, script: K6Script, keys: Dict, settings: Dict): DraftJob {
  const { data } = script.values;
  const job = jobOf(scenario.name || "Load", script, {}, settings);
  const thresholds = thresholdsOf(
    isDict(settings.thresholds ?? null) ? settings.thresholds as Dict : {},
    scenario.name || "default",
    script.steps.flatMap(({ made, tags, request }, index) => {
      const { id, name } = job.steps[index]!.data;
      return made ? [] : [{ key: String(id ?? name), url: request.url, tags }];
    }),
  );
  const { expect, stopIf } = thresholds;
  // k6 without options runs one round, which may have thresholds.
  const needsLoad = data !== undefined || expect.length > 0;
  const load = scenario.load ?? (needsLoad ? { users: 1, count: 1 } : undefined);
  const rest: Dict = {
    ...script.pause > 0 && load && !scenario.isOpen
      ? { think_time: secondsText(script.pause) }
      : {},
    ...data === undefined ? {} : { data },
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
    keys: {
      ...keys,
      ...script.stopsOnFailure ? { on_failure: "stop" } : {},
      ...Object.keys(http).length > 0 ? { defaults: { http } } : {},
    },
    steps: script.steps.map(({ made, request }) => made ?? request.step()),
    notes: script.notes,
  };
}
