import { assertEquals, assertStringIncludes } from "@std/assert";
import { join } from "@std/path/join";
import { formatYaml } from "../../../src/base/yaml/format_yaml.ts";
import { formatWorkflow } from "../../../src/workflow/format_workflow.ts";
import { LoadError } from "../../../src/base/errors.ts";
import { constructValues, parseYaml } from "../../../src/base/yaml/parse_yaml.ts";
import { CHECKOUT, listDocuments, readBlocks, readDocument } from "../../support/documents.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

const UGLY = `# a comment
name:   ugly

jobs:
# about the job
- name: 'a job'
  steps:
  -   uses: hello   # greets
      with: {a: 1,b: [ 'x', "y" ]}

      # commented out
      # echo: x
      test: |
          res.a == 1 &&
            res.b[0] == 'x'
  - uses: echo
    with:
       message: it's
          long
`;

const NEAT = `# a comment
name: ugly

jobs:
  # about the job
  - name: "a job"
    steps:
      - uses: hello   # greets
        with: { a: 1, b: ["x", "y"] }

        # commented out
        # echo: x
        test: |
          res.a == 1 &&
            res.b[0] == 'x'
      - uses: echo
        with:
          message: it's
            long
`;

Deno.test("fmt rewrites files in place and keeps comments and blank lines", async () => {
  await withFiles({ "ugly.yml": UGLY, "neat.yml": NEAT }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["fmt", "ugly.yml", "*.yml"], { cwd });
    assertEquals({ code, stdout, stderr }, {
      code: 0,
      stdout: "formatted: ugly.yml\n2 files: 1 formatted, 1 unchanged\n",
      stderr: "",
    });
    assertEquals(await Deno.readTextFile(join(cwd, "ugly.yml")), NEAT);
    assertEquals(await Deno.readTextFile(join(cwd, "neat.yml")), NEAT);
  });
});

Deno.test("fmt --check writes nothing and fails for a file that is not formatted", async () => {
  await withFiles({ "ugly.yml": UGLY, "neat.yml": NEAT }, async (cwd) => {
    const { code, stdout } = await runMain(["fmt", "--check", "ugly.yml,neat.yml"], { cwd });
    const lines = "not formatted: ugly.yml\n2 files: 1 not formatted, 1 formatted\n";
    assertEquals({ code, stdout }, { code: 1, stdout: lines });
    assertEquals(await Deno.readTextFile(join(cwd, "ugly.yml")), UGLY);
    assertEquals((await runMain(["fmt", "--check", "neat.yml"], { cwd })).code, 0);
  });
});

Deno.test("fmt leaves a file that is not YAML as it is, and goes on with the others", async () => {
  const broken = "name: [a\njobs: b\n";
  await withFiles({ "a.yml": broken, "b.yml": UGLY }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["fmt", "a.yml", "b.yml", "c.yml"], { cwd });
    assertEquals(code, 1);
    assertEquals(stdout, "formatted: b.yml\n3 files: 1 formatted, 2 not read\n");
    assertStringIncludes(stderr, 'a.yml:1:7: error: this "[" is not closed');
    assertStringIncludes(stderr, "file 'c.yml' not found");
    assertEquals(await Deno.readTextFile(join(cwd, "a.yml")), broken);
  });
});

Deno.test("fmt of a directory formats the workflows, job files and suites below it", async () => {
  const job = "name: log in\nsteps:\n- uses: hello\n";
  const files = {
    "flows/ugly.yml": UGLY,
    "flows/deep/job.yaml": job,
    "flows/suite.yml": "workflows:\n- ugly.yml\n",
    "flows/compose.yml": "services:\n    web: {image: 'x'}\n",
    "flows/azure.yml": "steps:\n- script: 'x'\n",
    "flows/pipeline.yml": "jobs:\n- job: a\n  steps:\n  - script: 'x'\n",
    "flows/github.yml": "jobs:\n  a:\n    steps:\n    - uses: 'x'\n",
    "flows/chart.yml": "metadata:\n    name: {{ .Values.name }}\n",
    "flows/.github/build.yml": UGLY,
    "flows/node_modules/x/y.yml": UGLY,
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["fmt", "--check", "."], { cwd });
    const names = ["flows/deep/job.yaml", "flows/suite.yml", "flows/ugly.yml"];
    const lines = names.map((name) => `not formatted: ${name}\n`).join("");
    assertEquals({ code, stdout, stderr }, {
      code: 1,
      stdout: `${lines}3 files: 3 not formatted\n`,
      stderr: "",
    });
    assertEquals((await runMain(["fmt", "flows/"], { cwd })).code, 0);
    assertEquals(await Deno.readTextFile(join(cwd, "flows/ugly.yml")), NEAT);
    for (const name of Object.keys(files).slice(3)) {
      const text = files[name as keyof typeof files];
      assertEquals(await Deno.readTextFile(join(cwd, name)), text, name);
    }
    assertEquals((await runMain(["fmt", "--check", "flows"], { cwd })).code, 0);
    await Deno.writeTextFile(join(cwd, "flows/broken.yml"), "jobs: [a\n");
    const broken = await runMain(["fmt", "--check", "flows"], { cwd });
    assertEquals(broken.code, 1);
    assertStringIncludes(broken.stderr, "flows/broken.yml:1:7: error");
    const none = await runMain(["fmt", "flows/node_modules/x"], { cwd });
    assertEquals(none.code, 0);
    await Deno.mkdir(join(cwd, "empty"));
    const empty = await runMain(["fmt", "empty"], { cwd });
    assertStringIncludes(empty.stderr, "no workflow in 'empty'");
  });
});

Deno.test("fmt - formats standard input to standard output", async () => {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", join(CHECKOUT, "cli.ts"), "fmt", "-"],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(UGLY));
  await writer.close();
  const { code, stdout } = await child.output();
  assertEquals({ code, text: new TextDecoder().decode(stdout) }, { code: 0, text: NEAT });
});

const CASES: readonly (readonly [what: string, before: string, after: string])[] = [
  ["anchors and tags", "a: &x\n    b: !!str  1\nc:\n-  *x\n", "a: &x\n  b: !!str 1\nc:\n  - *x\n"],
  [
    "a block with an indicator",
    "a:\n    b: |2\n        x\n       y\n",
    "a:\n  b: |2\n      x\n     y\n",
  ],
  ["the end of a kept block", "a:\n    b: |+\n        x\n\n\n", "a:\n  b: |+\n    x\n\n\n"],
  [
    "an escaped quote",
    "a: 'it''s'\nb: 'say \"x\"'\nc: 'a\\d'\n",
    "a: \"it's\"\nb: 'say \"x\"'\nc: 'a\\d'\n",
  ],
  ["line breaks of Windows", "a:\r\n- 'b'\r\n", 'a:\r\n  - "b"\r\n'],
  [
    "brackets over several lines",
    "a:\n    b: {\n      c: 1,\n    }\n",
    "a:\n  b: {\n    c: 1,\n  }\n",
  ],
  ["explicit keys", "?   a\n:   b\n", "? a\n: b\n"],
  ["lists in lists", "-   - a\n    - b\n-\n    - c\n", "- - a\n  - b\n-\n  - c\n"],
  ["blank lines", "\n\na: 1\n\n\n\nb: |\n  x\n\n\n  y\n", "a: 1\n\nb: |\n  x\n\n\n  y\n"],
  [
    "brackets that are too long for a line",
    `a: { x: ${"1".repeat(99)}, y: { z: [1, 2] } } # why\nb: [${"1".repeat(99)}, "c, d"]\n`,
    `a: # why\n  x: ${"1".repeat(99)}\n  y: { z: [1, 2] }\nb:\n  - ${"1".repeat(99)}\n  - "c, d"\n`,
  ],
  [
    "steps that are too long for a line",
    `- { "a": ${"1".repeat(99)}, b: &x c }\n- { a: ${
      "1".repeat(99)
    }, b } # stays, for its comment\n`,
    `- "a": ${"1".repeat(99)}\n  b: &x c\n- { a: ${"1".repeat(99)}, b } # stays, for its comment\n`,
  ],
  ["empty values", "a:\n    b:\n    # c: 1\nd:\n", "a:\n  b:\n  # c: 1\nd:\n"],
];

for (const [what, before, after] of CASES) {
  Deno.test(`fmt knows ${what}`, async () => {
    assertEquals(await formatYaml({ name: "a.yml", text: before }), after);
    assertEquals(await formatYaml({ name: "a.yml", text: after }), after);
  });
}

/** The YAML files of the checkout below a directory. */
async function* yamlFiles(directory: string): AsyncIterable<string> {
  for await (const { name, isDirectory } of Deno.readDir(join(CHECKOUT, directory))) {
    const path = `${directory}/${name}`;
    if (isDirectory && name !== "node_modules") yield* yamlFiles(path);
    else if (/\.ya?ml$/.test(name)) yield path;
  }
}

Deno.test("fmt leaves the examples unchanged", async () => {
  for await (const name of yamlFiles("examples")) {
    const text = await Deno.readTextFile(join(CHECKOUT, name));
    assertEquals(await formatWorkflow({ name, text }), text, name);
  }
});

Deno.test("fmt spaces expressions and templates, and nothing that only looks like one", async () => {
  const step = (lines: string) => `jobs:\n  - steps:\n${lines.replace(/^/gm, "      ")}\n`;
  const text = step(`- uses: http
  skipif: vars.x==-1||not   outputs.a["x  y"]
  with: { get: "http://{{  vars.host }}/{{ {a: 1}.a }}", body: "a  ==b" }
  test: res.code==200   &&   true
  outputs: { n: "all(res.items,#.a==#.b)", s: 'res.body?.x??"it''s"' }
- uses: sse
  with: { url: "http://x", until: event.data=="a", timeout: "{{  vars.t }}" }
  test:
    - res.events|filter(.a==1)|len()<3
    - a ==
    - any(res.events, x==#)
- uses: shell
  name: "{{ vars.n+1 }}: a==b"
  with:
    cmd: |
      test "{{ vars.a }}"=="a"`);
  const after = step(`- uses: http
  skipif: vars.x == -1 || not outputs.a["x  y"]
  with: { get: "http://{{vars.host}}/{{ {a: 1}.a }}", body: "a  ==b" }
  test: res.code == 200 && true
  outputs: { n: "all(res.items, #.a == #.b)", s: 'res.body?.x??"it''s"' }
- uses: sse
  with: { url: "http://x", until: event.data == "a", timeout: "{{vars.t}}" }
  test:
    - res.events | filter(.a == 1) | len() < 3
    - a ==
    - any(res.events, x==#)
- uses: shell
  name: "{{vars.n + 1}}: a==b"
  with:
    cmd: |
      test "{{ vars.a }}"=="a"`);
  assertEquals(await formatWorkflow({ name: "a.yml", text }), after);
  assertEquals(await formatWorkflow({ name: "a.yml", text: after }), after);
});

Deno.test("fmt never changes the meaning of a file, however it was indented", async () => {
  let formatted = 0;
  const keepsMeaning = async (name: string, text: string) => {
    const value = valueOf(name, text);
    let once: string;
    try {
      once = await formatYaml({ name, text });
    } catch (error) {
      if (error instanceof LoadError && value === undefined) return;
      throw new Error(`${name}:\n${text}`, { cause: error });
    }
    formatted++;
    assertEquals(valueOf(name, once), value, name);
    assertEquals(await formatYaml({ name, text: once }), once, name);
    assertEquals(commentsIn(once), commentsIn(text), name);
  };
  const texts: (readonly [string, string])[] = [];
  for (const directory of ["examples", "tests/conformance", "tests/fixtures", "tests/openapi"]) {
    for await (const name of yamlFiles(directory)) {
      texts.push([name, await Deno.readTextFile(join(CHECKOUT, name))]);
    }
  }
  for (const page of await listDocuments()) {
    for (const { language, text, line } of readBlocks(await readDocument(page))) {
      if (/^ya?ml$/.test(language)) texts.push([`${page}:${line}`, text]);
    }
  }
  for (const [name, text] of texts) {
    await keepsMeaning(name, text);
    // Twice as deep, and with the other quotes.
    await keepsMeaning(
      name,
      text.replace(/^( *)(- )?/gm, (_, indent, dash) => indent + indent + (dash ? "-   " : "")),
    );
    await keepsMeaning(name, text.replaceAll(/"([^"'\\\n]*)"/g, "'$1'"));
  }
  assertEquals(formatted > 600, true, `${formatted} texts`);
});

function valueOf(name: string, text: string): unknown {
  try {
    return JSON.stringify(constructValues(parseYaml([{ name, text }])));
  } catch {
    return undefined;
  }
}

function commentsIn(text: string): string[] {
  return text.split("\n").map((line) => line.trim()).filter((line) => line.startsWith("#"));
}
