import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Shows a variable in `vars` and in a shell step. */
const FLOW = `name: n
vars: {a: "{{A ?? 'nil'}}", b: "{{B ?? 'nil'}}"}
jobs:
  - name: j
    steps:
      - uses: shell
        with: {cmd: "echo $A"}
        echo: "a={{vars.a}} b={{vars.b}} shell={{trim(res.stdout)}}="
`;

function run(args: readonly string[], files: Record<string, string>, env: Record<string, string>) {
  return withFiles({ "w.yml": FLOW, ...files }, (cwd) => runCli([...args, "w.yml"], { cwd, env }));
}

Deno.test("--env-file feeds what vars see, and the real environment wins", async (test) => {
  const files = { "1.env": "A=one\nB=one\n", "2.env": "B=two\n" };
  const table: [args: string[], env: Record<string, string>, echo: string][] = [
    [[], {}, "a=nil b=nil shell=="],
    [["--env-file", "1.env"], {}, "a=one b=one shell=="],
    [["--env-file", "1.env", "--env-file", "2.env"], {}, "a=one b=two shell=="],
    [["--env-file", "1.env"], { A: "real" }, "a=real b=one shell=real="],
    [["--env-file", "1.env"], { A: "" }, "a= b=one shell=="],
    [["--env-file", "1.env", "--var", "a=set"], { A: "real" }, "a=set b=one shell=real="],
  ];
  for (const [args, env, echo] of table) {
    await test.step(`${args.join(" ")} ${JSON.stringify(env)}`, async () => {
      const { code, stdout } = await run(args, files, env);
      assertEquals(code, 0);
      assertStringIncludes(stdout, echo);
    });
  }
});

Deno.test("variables of the program itself are not read from a file", async () => {
  const { code, stdout } = await run(["--env-file", "e"], { e: "RUNNER_OUTPUT=loud\nA=1\n" }, {});
  assertEquals(code, 0);
  assertStringIncludes(stdout, "a=1");
});

Deno.test("every mistake of an env file is reported with its place", async () => {
  const e = "A=1\n1A=2\nB=\"never\nNOEQ\nC-D*=1\nE='x' y\nF=fine\n";
  const result = await run(["--env-file", "e"], { e }, {});
  assertEquals([result.code, result.stdout], [1, ""]);
  assertEquals(
    result.stderr,
    `runner: error: env file 'e' has 5 errors
e:2:1: error: this is not the name of a variable
  2 | **=*
    | ^ write NAME=value
e:3:3: error: this quote is never closed
  3 | B=******
    |   ^ close it after the value
e:4:1: error: there is no "=" after "NOEQ"
  4 | ****
    | ^^^^ write NAME=value
e:5:1: error: a name has no "*" in it
  5 | ****=*
    | ^^^ write NAME=value
e:6:6: error: text after the closing quote
  6 | E=*** *
    |      ^ put all of the value in quotes
`,
  );
});

Deno.test("a bad line of an env file shows no more than a name", async () => {
  const e = "GITHUB PAT ghp_0123456789\nexport FOO bar-value-x\nghp_abcdefghij\nmy horse is bay\n" +
    'X="unclosed-value\n';
  const { stderr } = await run(["--env-file", "e"], { e }, {});
  assertStringIncludes(stderr, 'there is no "=" after "FOO"');
  for (const word of ["ghp_", "PAT", "bar-value", "horse", "unclosed"]) {
    assertEquals(stderr.includes(word), false, stderr);
  }
});

Deno.test("an unreadable env file is reported like a workflow file", async (test) => {
  await test.step("missing", async () => {
    const { code, stderr } = await run(["--env-file", "nope"], {}, {});
    assertEquals([code, stderr], [1, "runner: error: env file 'nope' not found\n"]);
  });
  await test.step("a directory", async () => {
    const result = await run(["--env-file", "d"], { "d/x": "" }, {});
    assertEquals(result.code, 1);
    assertStringIncludes(result.stderr, "cannot read env file 'd': it is a directory");
    assertNoTrace(result);
  });
  await test.step("no text", async () => {
    const { code, stderr } = await run(["--env-file", "b"], { b: "A=\0" }, {});
    assertEquals(code, 1);
    assertStringIncludes(stderr, "cannot read env file 'b': it is not UTF-8 text");
  });
});
