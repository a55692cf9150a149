import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { join } from "@std/path/join";
import { toFileUrl } from "@std/path/to-file-url";
import { load } from "../../src/workflow/decode/decode_load.ts";
import { nameText } from "../../src/workflow/names.ts";
import { CHECKOUT } from "../support/documents.ts";
import { applyEdits } from "../support/programs/editor.ts";
import {
  assertHas,
  completions,
  type Edits,
  labels,
  type Location,
  textsAt,
  withEditor,
} from "../support/programs/editor_session.ts";

const DEMO = await Deno.readTextFile(join(CHECKOUT, "examples/demo.yml"));

Deno.test("an editor opens a workflow, types in it and asks about it", async () => {
  await withEditor({ "demo.yml": DEMO }, async (editor, at) => {
    const path = at("demo.yml");
    assertEquals((await editor.write(path, DEMO)).diagnostics, []);

    const broken = DEMO.replace("uses: http\n", "uses: htpp\n");
    const { diagnostics } = await editor.write(path, broken);
    assertStringIncludes(diagnostics[0]!.message, 'unknown action "htpp"');
    assertEquals(diagnostics[0]!.severity, 1);
    const actions = await editor.ask<{ edit: { changes: Record<string, Edits> } }[]>(
      "textDocument/codeAction",
      {
        textDocument: { uri: toFileUrl(path).href },
        range: diagnostics[0]!.range,
        context: { diagnostics },
      },
    );
    assertEquals(applyEdits(broken, Object.values(actions[0]!.edit.changes)[0]!), DEMO);

    await editor.write(path, DEMO);
    const hover = (near: string, into = 0) =>
      editor.askAt<{ contents: { value: string } } | null>("hover", path, near, into)
        .then((found) => found?.contents.value ?? "");
    assertStringIncludes(await hover("for: 10s", 1), "The time for all attempts together");
    assertStringIncludes(await hover("uses: http", 7), "**http**");
    assertStringIncludes(await hover("post: /login"), "of http");
    assertStringIncludes(await hover("random_str", 3), "random_str(");
    assertStringIncludes(await hover("vars.customer", 6), "customer-{{random_str(6)}}");
    assertStringIncludes(
      await hover("outputs.session.token", 17),
      "An output of the step `session`",
    );

    const definition = await editor.askAt<Location>("definition", path, "outputs.create.id", 9);
    assertEquals(textsAt(DEMO, [definition]), ["56: create"]);
    const job = await editor.askAt<Location>("definition", path, "needs: [order, shell", 17);
    assertEquals(textsAt(DEMO, [job])[0]!.split(": ")[1], "shell");

    const symbols = await editor.ask<{ name: string; children: { name: string }[] }[]>(
      "textDocument/documentSymbol",
      { textDocument: { uri: toFileUrl(path).href } },
    );
    assertEquals(symbols.map(({ name }) => name).slice(0, 3), [
      ...["Wait for the shop", "Log in", "Order"],
    ]);
    assertEquals(symbols[1]!.children[0]!.name, "get a token");

    const ugly = DEMO.replace("name: A tour of runner", "name:   'A tour of runner'");
    await editor.write(path, ugly);
    const edits = await editor.ask<Edits>("textDocument/formatting", {
      textDocument: { uri: toFileUrl(path).href },
      options: { tabSize: 2, insertSpaces: true },
    });
    assertEquals(
      applyEdits(ugly, edits),
      DEMO.replace("name: A tour of runner", 'name: "A tour of runner"'),
    );
  });
});

Deno.test("completion knows keys, actions, parameters and names, also in broken YAML", async () => {
  await withEditor({ "a.yml": "", "plugins/runner-greet.ts": "throw 1" }, async (editor, at) => {
    const path = at("a.yml");
    const of = (text: string, near: string) => labels(editor, path, text, near);
    assertHas(await of("name: a\nj", "\nj"), ["jobs", "vars", "finally"]);
    const job = "name: a\njobs:\n  - name: b\n    id: one\n    steps:\n      - ";
    assertHas(await of(`${job}u`, "- u"), ["uses", "with", "retry"]);
    assertHas(await of(`${job}uses: `, "uses: "), ["http", "shell", "greet"]);
    const http = `${job}uses: http\n        with:\n          `;
    assertHas(await of(`${http}\n`, "with:\n          "), ["url", "headers"]);
    assertHas(await of(`${http}url: "http://x\n          he`, "\n          he"), ["headers"]);
    assertHas(await of(`${job}uses: http\n        with: { ge`, "{ ge"), ["get"]);
    assertHas(await of(`${job}uses: hello\n        retry:\n          m`, "\n          m"), [
      ...["max_attempts", "for", "backoff"],
    ]);
    assertHas(
      await of(
        `${job}uses: hello\n        test:\n        - that: 1 == 1\n          s`,
        "\n          s",
      ),
      [
        "says",
      ],
    );
    assertHas(await of(`${job}uses: hello\n        test: le`, "test: le"), ["len", "res", "vars"]);
    assertHas(await of(`${job}uses: http\n        test: res.`, "res."), ["code", "body"]);
    assertHas(await of(`${job}uses: http\n        allow_failure: res.`, "res."), ["code", "body"]);
    assertHas(await of(`${job}uses: http\n        test:\n        - that: res.`, "res."), ["code"]);
    const load = `${job}uses: http\n    load:\n      for: 1s\n      `;
    assertHas(await of(`${load}stop_if: stats.`, "stop_if: stats."), ["passed"]);
    assertHas(await of(`${load}expect: stats.`, "expect: stats."), ["passed"]);
    const vars = `vars: { shop: x }\n${job}uses: hello\n        `;
    assertEquals(await of(`${vars}echo: "a {{vars.`, "{{vars."), ["shop"]);
    assertEquals(await of(`${vars}echo: vars.`, "echo: vars."), []);
    const published = `${job}uses: hello\n        id: first\n        outputs: { n: res.n }\n` +
      "      - uses: hello\n        ";
    assertEquals(await of(`${published}test: outputs.`, "test: outputs."), ["first", "n"]);
    assertEquals(await of(`${published}test: |\n          1 == outputs.first.`, "outputs.first."), [
      "n",
    ]);
    const entries = published.replace("id: first", "id: first\n        iteration: [1, 2]");
    assertEquals(await of(`${entries}test: outputs.first.`, "outputs.first."), ["n", "all"]);
    const matrix = `${job}uses: hello\n        iteration:\n          matrix: { region: [a] }\n`;
    assertHas(await of(`${job}uses: hello\n        iteration:\n          ma`, "          ma"), [
      "matrix",
    ]);
    assertHas(await of(`${matrix}        test: vars.`, "test: vars."), ["region"]);
    const types = `${job}uses: hello\n        iteration:\n          file: a.csv\n          types: `;
    assertHas(await of(types, "types: "), ["auto"]);
    const second = `${job}uses: hello\n  - name: c\n    needs: [`;
    assertEquals(await of(second, "needs: ["), ["one"]);
    assertEquals(await of(`${second}one]\n    skipif: needs.one.`, "needs.one."), ["state"]);
    assertHas(await of(`${job}uses: hello\n    on_failure: `, "on_failure: "), ["stop"]);
    const suite = "workflows:\n  - path: a.yml\n    ";
    assertEquals(await of(suite, "a.yml\n    "), ["name", "matrix", "vars", "tags"]);
    const named = `${suite}matrix: { stage: [a], include: [] }\n    name: "{{`;
    assertHas(await of(named, "{{"), ["vars", "matrix"]);
    assertEquals(await of(`${named}matrix.`, "matrix."), ["stage"]);
    assertEquals(await of(`${suite}matrix: { `, "{ "), ["include", "exclude"]);
    const inDefaults = "workflows: [a.yml]\ndefaults:\n  ";
    assertHas(await of(inDefaults, "defaults:\n  "), ["http", "db"]);
    assertHas(await of(`${inDefaults}http:\n    he`, "    he"), ["headers"]);
    assertHas(await of(`${suite}\nse`, "\nse"), ["setup", "env_file"]);
  });
});

Deno.test("a file that is not YAML is reported at its place, and typing goes on", async () => {
  await withEditor({}, async (editor, at) => {
    const path = at("new.yml");
    for (const text of ["name", "name: [", "jobs:\n- \n -", "name: &x\nvars: *y\n", '"']) {
      const { diagnostics } = await editor.write(path, text);
      assert(diagnostics.length > 0, JSON.stringify(text));
    }
    for (const text of ["", "\t", "{{", "- "]) await editor.write(path, text);
    assertEquals((await editor.write(path, DEMO)).diagnostics, []);
  });
});

Deno.test("YAML of other programs is left alone", async () => {
  await withEditor({}, async (editor, at) => {
    const texts = {
      "compose.yml": "name: x\nservices:\n  web:\n    image: nginx\n",
      "pod.yml": "apiVersion: v1\nkind: Pod\nmetadata: {}\n",
      "playbook.yml": "- hosts: all\n  tasks: []\n",
      ".github/workflows/ci.yml": "name: CI\non: push\njobs:\n  a:\n    steps: []\n",
      "empty.yml": "",
    };
    for (const [name, text] of Object.entries(texts)) {
      assertEquals((await editor.write(at(name), text)).diagnostics, [], name);
    }
    const misspelt = await editor.write(at("misspelt.yml"), "name: x\njbos: []\n");
    assert(misspelt.diagnostics.length > 0);
  });
});

Deno.test("the server runs no code of plugins", async () => {
  const flow = "name: a\njobs: [{ name: b, steps: [{ uses: greet, with: { any: 1 } }] }]\n";
  const ran = await Deno.makeTempFile({ prefix: "runner_test_" });
  await Deno.remove(ran);
  const plugin = `Deno.writeTextFileSync(${
    JSON.stringify(ran)
  }, "");\nexport default () => ({});\n`;
  await withEditor(
    { "flow.yml": flow, "plugins/runner-greet.ts": plugin },
    async (editor, at) => {
      const { diagnostics } = await editor.write(at("flow.yml"), flow);
      assertEquals(diagnostics.filter(({ severity }) => severity < 3), []);
      const hover = await editor.askAt<{ contents: { value: string } }>(
        "hover",
        at("flow.yml"),
        "greet",
        1,
      );
      assertStringIncludes(hover.contents.value, "plugin");
      await assertRejects(() => Deno.stat(ran), Deno.errors.NotFound);
    },
  );
});

Deno.test("quick fixes correct misspelt keys and names", async () => {
  const text = "name: a\nvars: { shop: x }\njobs:\n  - name: b\n    id: b\n    depends_on: []\n" +
    "    steps:\n      - uses: hello\n        tset: vars.shp == 1\n        retyr: {}\n" +
    "        echo: '{{lenn(vars.shop)}}'\n  - name: c\n    needs: [bb]\n    on_failure: stopp\n" +
    "    steps:\n      - { uses: helo }\n      - { uses: http, with: { get: /, hedaers: {} } }\n" +
    "      - { uses: embedded, with: { path: jobs/sbu.yml } }\n" +
    "      - uses: hello\n        test: \"match_json(res, {'a': is_type('itneger')})\"\n" +
    '      - uses: hello\n        test: "[\\"a\\"] == vars[\\"shpo\\"]"\n' +
    "      - uses: hello\n        test: '[''a''] == vars[''sohp'']'\n";
  await withEditor({ "a.yml": text, "jobs/sub.yml": "name: x\n" }, async (editor, at) => {
    const path = at("a.yml");
    const { diagnostics } = await editor.write(path, text);
    const all = await editor.ask<{ edit: { changes: Record<string, Edits> } }[]>(
      "textDocument/codeAction",
      {
        textDocument: { uri: toFileUrl(path).href },
        range: { start: { line: 0, character: 0 }, end: { line: 99, character: 0 } },
        context: { diagnostics },
      },
    );
    const edits = all.flatMap(({ edit }) => Object.values(edit.changes)[0]!);
    const fixed = applyEdits(text, edits);
    for (
      const part of [
        ...["needs: []", "test: vars", "retry: {}", "'{{len(vars.shop)}}'", "needs: [b]"],
        "uses: hello }",
        "on_failure: stop\n",
        "headers: {}",
        "path: jobs/sub.yml",
        "is_type('integer')",
        'vars[\\"shop\\"]',
        "vars[''shop'']",
      ]
    ) assertStringIncludes(fixed, part);
  });
});

Deno.test("long lines, many brackets and many mistakes take no longer than their size", async () => {
  const head =
    "name: a\nvars: { b: 1 }\njobs:\n  - name: b\n    steps:\n      - uses: hello\n        with: ";
  const texts: readonly (readonly [text: string, message: RegExp | undefined])[] = [
    [head + "[\n          ".repeat(20_000), /nested too deeply/],
    [head + "{ a: [".repeat(10_000), /nested too deeply/],
    [(head + "[\n").repeat(2_000), /not closed/],
    [`${head}{ a: "${"{{vars.b}} ".repeat(55_000)}" }\n`, undefined],
    [`${head}{ a: "${"{{vars.c}} ".repeat(55_000)}" }\n`, /undefined variable "c"/],
  ];
  await withEditor({}, async (editor, at) => {
    for (const [text, message] of texts) {
      const path = at(`${texts.length}.yml`);
      const seconds = AbortSignal.timeout(20_000);
      const late = Promise.withResolvers<never>();
      seconds.onabort = () => late.reject(new Error(`no diagnostics for ${text.slice(0, 200)}`));
      const { diagnostics } = await Promise.race([editor.write(path, text), late.promise]);
      if (message) assertMatch(diagnostics[0]!.message, message);
      else assertEquals(diagnostics, []);
      const hover = editor.askAt<unknown>("hover", path, "uses: hello", 8);
      assert(await Promise.race([hover, late.promise]), text.slice(0, 200));
    }
  });
});

const TYPED = `name: a
vars: { shop: "x", limit: 3, user: { name: ann } }
jobs:
  - name: b
    id: b
    steps:
      - uses: http
        id: login
        with: { get: "http://x", tls: { ca: ca.pem }, openapi: api.yml }
        test: res.code == 200 && rt.sec < 1 && vars.limit == 3
        outputs: { session: res.headers, all_of_it: res.body }
        retry: { max_attempts: 2 }
      - uses: echo
        id: say
        iteration: { file: rows.csv }
        with: { message: "{{outputs.login.session}} {{vars.user.name}} {{repeat_index}}" }
      - { uses: embedded, with: { path: jobs/sub.yml } }
    finally:
      - { uses: echo, with: { message: "{{run.state}} {{job.failed}}" } }
  - name: c
    needs: [b]
    skipif: needs.b.state != "passed"
    load:
      rate: 1/s
      for: 1s
      expect: stats.late_max < 1 && stats.steps.get.codes["5xx"] == 0
    steps:
      - { uses: http, id: get, with: { get: "http://x/{{round.user}}" } }
  - name: d
    load: { users: 1, count: 2, expect: stats.p95 < 0.3 }
    steps: [{ uses: hello }]
`;

Deno.test("hover has the type of a value and a text about it", async () => {
  await withEditor({}, async (editor, at) => {
    const path = at("a.yml");
    await editor.write(path, TYPED);
    const hover = async (near: string, word: string) => {
      const into = near.lastIndexOf(word) + 1;
      type Hover = { readonly contents: { readonly value: string } } | null;
      return (await editor.askAt<Hover>("hover", path, near, into))?.contents.value ?? "";
    };
    const expected = [
      ["res.code", "code", "`res.code`: integer\n\nThe status code."],
      ["test: res", "res", "`res`: map\n\nThe response of the action"],
      ["rt.sec", "sec", "`rt.sec`: number\n\nThe time that the action took in seconds"],
      ["vars.limit", "limit", "`vars.limit`: integer\n\n```yaml\n3\n```"],
      ["vars.user.name", "name", "`vars.user.name`: string\n\n```yaml\nann\n```"],
      ["session: res", "session", "`outputs.login.session`: map"],
      ["outputs.login.session", "session", "The headers by canonical name"],
      ["repeat_index", "repeat_index", "`repeat_index`: integer\n\nThe number of the round"],
      ["run.state", "state", "`run.state`: string"],
      ["job.failed", "failed", "`job.failed`: integer"],
      ["needs.b.state", "state", "`needs.b.state`: string\n\nHow the job ended"],
      ["stats.late_max", "late_max", "`stats.late_max`: number\n\nBy how much"],
      ["stats.steps.get.codes", "codes", "`stats.steps.get.codes`: map"],
      ["round.user", "user", "`round.user`: integer"],
      ["stats.p95", "p95", "`stats.p95`: number\n\nThe time that 95 %"],
    ] as const;
    for (const [near, word, text] of expected) assertStringIncludes(await hover(near, word), text);
    const retry = await hover("retry:", "retry");
    for (const key of ["max_attempts` (integer)", "for` (duration)", "interval", "until"]) {
      assertStringIncludes(retry, `- \`${key}`);
    }
    assertStringIncludes(await hover("with: { get", "with"), "- `headers` (map): ");
    assertStringIncludes(await hover("tls:", "tls"), "- `min_version` (1.2 or 1.3): ");
    assertStringIncludes(await hover("steps:", "steps"), "- `uses` (string): The action.");
  });
});

Deno.test("completion has types and texts", async () => {
  await withEditor({}, async (editor, at) => {
    const of = async (from: string, to: string, near: string) => {
      const items = await completions(editor, at("a.yml"), TYPED.replace(from, to), near);
      return new Map(items.map((one) => [one.label, `${one.detail} ${one.documentation?.value}`]));
    };
    const res = await of("test: res.code", "test: res.", "test: res.");
    assertEquals([...res.keys()].slice(0, 2), ["code", "status"]);
    assertMatch(res.get("code")!, /^integer .*The status code\.$/s);
    assertMatch((await of("rt.sec", "rt.", "&& rt.")).get("sec")!, /^number .*in seconds/s);
    assertMatch((await of("vars.user.name", "vars.user.", "vars.user.")).get("name")!, /^string /);
    const outputs = await of("outputs.login.session", "outputs.login.", "outputs.login.");
    assertMatch(outputs.get("session")!, /^map .*An output of the step `login`/s);
    assertMatch((await of("stats.p95", "stats.", "stats.")).get("count")!, /^integer .*ended/s);
    const steps = await of("stats.steps.get.codes", "stats.steps.", "stats.steps.");
    assertEquals([...steps.keys()], ["get"]);
    assertMatch((await of("round.user", "round.", "round.")).get("index")!, /^integer /);
    const names = await of("run.state", "", 'message: "{{');
    assertHas([...names.keys()], ["outputs", "len"]);
  });
});

Deno.test("completion writes whole steps and jobs, http first and hello last", async () => {
  const jobs = "name: a\njobs:\n  - ";
  const steps = `${jobs}name: b\n    steps:\n      - `;
  await withEditor({}, async (editor, at) => {
    const of = (text: string, near: string) => completions(editor, at("a.yml"), text, near);
    const actions = await of(`${steps}uses: `, "uses: ");
    assertEquals([actions[0]!.label, actions.at(-1)!.label], ["http", "hello"]);
    assertStringIncludes(actions[0]!.textEdit.newText, "http\n  with:\n    get: ${1:");
    assertMatch(actions[0]!.textEdit.newText, /\n {2}test: \$\{\d:res\.code == 200/);
    const [http] = await of(`${steps}uses: \n        test: 1 == 1`, "uses: ");
    assertEquals(http!.textEdit.newText, "http");
    const whole = (await of(`${steps}`, "      - ")).find(({ label }) => label === "uses: shell");
    assertStringIncludes(whole!.textEdit.newText, "uses: shell\n  with:\n    cmd: ");
    const job = (await of(jobs, "  - ")).find(({ label }) => label === "job");
    assertStringIncludes(
      job!.textEdit.newText,
      "name: $1\n  steps:\n    - uses: http\n      with:",
    );
    // What they insert is a workflow.
    const insert = job!.textEdit.newText.replaceAll("\n", "\n  ")
      .replace(
        /\$(?:\{\d:((?:[^\\}]|\\.)*)\}|\d)/g,
        (_, text = "x") => text.replace(/\\(.)/g, "$1"),
      );
    assertEquals((await editor.write(at("a.yml"), `${jobs}${insert}\n`)).diagnostics, []);
  });
});

Deno.test("files that a workflow, a suite or a description names are links", async () => {
  type Links = readonly (Location & { readonly target: string })[];
  await withEditor({}, async (editor, at) => {
    const linksIn = async (name: string, text: string) => {
      await editor.write(at(name), text);
      const uri = toFileUrl(at(name)).href;
      const links = await editor.ask<Links>("textDocument/documentLink", { textDocument: { uri } });
      for (const { target, range } of links) {
        const [written] = textsAt(text, [{ uri, range }]);
        assertEquals(target, toFileUrl(at(written!.split(": ")[1]!)).href);
      }
      return textsAt(text, links.map(({ range }) => ({ uri, range }))).map((one) =>
        one.split(": ")[1]
      );
    };
    assertEquals(await linksIn("a.yml", TYPED), ["ca.pem", "api.yml", "rows.csv", "jobs/sub.yml"]);
    assertEquals(
      await linksIn("s.yml", "workflows:\n  - a.yml\n  - { path: b.yml }\n"),
      ["a.yml", "b.yml"],
    );
    const description = "openapi: 3.1.0\npaths:\n  /: { $ref: 'paths.yml#/root' }\n" +
      "x: { $ref: '#/y' }\nz: { $ref: 'https://example.com/a.yml' }\n";
    assertEquals(await linksIn("api.yml", description), ["paths.yml"]);
  });
});

Deno.test("a misspelt output is reported beside any other mistake", async () => {
  const flow = "name: a\njobs:\n  - name: b\n    steps:\n      - uses: hello\n        id: login\n" +
    "        outputs: { session: res.n }\n      - uses: hello\n" +
    "        test: outputs.sesion == 1\n";
  const mistakes = {
    "unknown-key": "        tets: 1 == 1\n",
    "expression": "        skipif: 1 ==\n",
    "unknown-action": "      - uses: htpp\n",
    "unquoted": "        with: { a: {{ vars.x }} }\n",
    "yaml": "        with: { a: 1\n      - uses: hello\n",
  };
  await withEditor({}, async (editor, at) => {
    for (const [code, rest] of Object.entries(mistakes)) {
      const { diagnostics } = await editor.write(at("a.yml"), flow + rest);
      const found = diagnostics.map((one) => one.code);
      assertHas(found, [code, "unpublished-output"]);
    }
    // A name that is defined in what cannot be read is no mistake.
    const { diagnostics } = await editor.write(
      at("a.yml"),
      flow + "      - uses: hello\n        id: c\n        outputs: { sesion: res.n\n",
    );
    assertEquals(diagnostics.map(({ code }) => code), ["yaml"]);
  });
});

Deno.test("every statistic that thresholds see has a type and a text", () => {
  const { members } = load.form.fields!.find(({ name }) => name === "expect")!.key!.names!;
  for (const [path, names] of Object.entries<readonly string[]>(members!)) {
    for (const name of names) assert(nameText([...path.split("."), name]), `${path}.${name}`);
  }
});

Deno.test("completion knows the fields of the messages of the step that receive names", async () => {
  const flow = `name: Hooks
jobs:
  - name: a
    steps:
      - { id: hooks, uses: listen }
      - uses: receive
        with:
          from: hooks
          where: message.path == "/x"
        test: message.body == 1
`;
  await withEditor({}, async (editor, at) => {
    for (
      const [whole, near] of [["message.path ==", "where: message."], [
        "message.body ==",
        "test: message.",
      ]]
    ) {
      const text = flow.replace(whole!, "message. ==");
      const items = await completions(editor, at("a.yml"), text, near!);
      assertEquals(items.map(({ label }) => label).slice(0, 3), ["method", "path", "params"]);
    }
  });
});
