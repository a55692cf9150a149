import { assertEquals, assertMatch } from "@std/assert";
import type { ActionResult, Dict } from "../../../src/action/action.ts";
import { runProgram } from "../../../src/actions/plugin/load_plugins.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { isRunning, until } from "../../support/run/processes.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Runs a script as the plugin "foo". */
function plugin<T>(
  script: string,
  use: (
    run: (params?: Dict) => Promise<ActionResult>,
    context: TestContext,
    directory: string,
  ) => Promise<T>,
): Promise<T> {
  return withFiles({ "runner-foo": script }, async (directory) => {
    const path = `${directory}/runner-foo`;
    await Deno.chmod(path, 0o755);
    await using context = actionContext();
    const run = runProgram({ name: "foo", path, shown: "runner-foo", kind: "program" });
    return await use(async (params = {}) => await run(params, context), context, directory);
  });
}

async function refusal(running: Promise<ActionResult>): Promise<StepError> {
  try {
    await running;
  } catch (error) {
    if (error instanceof StepError) return error;
    throw error;
  }
  throw new Error("the plugin did not fail");
}

const SH = "#!/bin/sh\n";
const GOOD = `echo '{"status": 0, "res": {"a": [1, null]}}'\n`;

Deno.test("a plugin gets one request and gives one answer", async () => {
  const echo = `${SH}printf '{"status": 0, "res": %s}' "$(cat)"\n`;
  await plugin(echo, async (run) => {
    const with_ = { text: 'a "quoted"\nline', list: [1, { b: true }] };
    const { req, res, status } = await run(with_);
    assertEquals(res, { action: "foo", with: with_, vars: {}, timeout: 300 });
    assertEquals([req, status], [with_, 0]);
  });
});

Deno.test("a plugin may answer with a status, a request of its own and less", async () => {
  const table: [answer: string, result: Partial<ActionResult>][] = [
    ['{"status": 3, "res": {}}', { status: 3, res: {}, req: { p: 1 }, brief: "status 3" }],
    ['{"status": 0}', { status: 0, res: {}, req: { p: 1 } }],
    ['{"status": 0, "res": null, "req": null}', { res: {}, req: { p: 1 } }],
    ['{"status": 0, "req": {"q": 2}, "error": null}', { req: { q: 2 } }],
    ['\ufeff  {"status": 0, "more": 1}\n\n', { status: 0 }],
  ];
  for (const [answer, result] of table) {
    await plugin(`${SH}cat <<'END'\n${answer}\nEND\n`, async (run) => {
      const given = await run({ p: 1 });
      for (const [key, value] of Object.entries(result)) {
        assertEquals(given[key as keyof ActionResult], value, answer);
      }
    });
  }
});

Deno.test("a plugin that exits with another code may answer nevertheless", async () => {
  await plugin(`${SH}${GOOD}exit 4\n`, async (run) => assertEquals((await run()).status, 0));
});

Deno.test("a plugin need not read its request, however long it is", async () => {
  await plugin(`${SH}exec <&-\n${GOOD}`, async (run) => {
    assertEquals((await run({ text: "x".repeat(1_000_000) })).status, 0);
  });
});

Deno.test("the stderr of a plugin appears only in verbose output", async () => {
  await plugin(`${SH}echo one >&2\necho two >&2\n${GOOD}`, async (run, context) => {
    await run();
    assertEquals(context.notes, ["foo: one\ntwo"]);
  });
});

Deno.test("a plugin that gives no answer is an error that shows what came instead", async (test) => {
  const alone = "its standard output is for the answer alone; " +
    "what is for people goes to standard error";
  const form = 'an answer is {"status": 0, "res": {…}}, or {"error": "why not"}';
  const table: [script: string, message: string, hint: string | undefined][] = [
    ["", 'the plugin "foo" ended without an answer', undefined],
    [
      "echo no luck >&2\nexit 3",
      'the plugin "foo" ended with exit code 3 without an answer',
      "stderr:\n  no luck",
    ],
    ["kill -9 $$", 'the plugin "foo" ended by SIGKILL without an answer', undefined],
    [
      `echo hello\n${GOOD}`,
      'the plugin "foo" ended and answered with no JSON: ' +
      `"hello\\n{\\"status\\": 0, \\"res\\": {\\"a\\": [1, null]}}"`,
      alone,
    ],
    [
      "echo Traceback; echo oh >&2; exit 1",
      'the plugin "foo" ended with exit code 1 and answered with no JSON: "Traceback"',
      `${alone}\nstderr:\n  oh`,
    ],
    [`echo '[1]'`, 'the plugin "foo" must answer with a mapping, not a list', form],
    [`echo '"x"'`, 'the plugin "foo" must answer with a mapping, not "x"', form],
    [`echo '{"res": {}}'`, 'the plugin "foo" answered without "status"', form],
    [
      `echo '{"status": "0"}'`,
      'the plugin "foo" must answer with a whole number as "status", not "0"',
      form,
    ],
    [
      `echo '{"status": 0.5}'`,
      'the plugin "foo" must answer with a whole number as "status", not 0.5',
      form,
    ],
    [
      `echo '{"status": 0, "res": "x"}'`,
      'the plugin "foo" must answer with a mapping as "res", not "x"',
      form,
    ],
    [
      `echo '{"status": 0, "req": [1]}'`,
      'the plugin "foo" must answer with a mapping as "req", not a list',
      form,
    ],
    [
      `echo '{"error": 5}'`,
      'the plugin "foo" must answer with text as "error", not 5',
      form,
    ],
    [`echo '{"error": "no such thing"}'`, 'the plugin "foo" failed: no such thing', undefined],
    [`echo '{"error": ""}'`, 'the plugin "foo" failed: it says nothing more', undefined],
  ];
  for (const [script, message, hint] of table) {
    await test.step(message, async () => {
      await plugin(`${SH}${script}\n`, async (run) => {
        const error = await refusal(run({ p: 1 }));
        assertEquals([error.message, error.hint], [message, hint]);
        assertEquals(error.details.req, { p: 1 });
      });
    });
  }
});

Deno.test("a text that is not an answer is shown by its first line, which is never cut", async () => {
  const messageOf = async (script: string) => {
    let message = "";
    await plugin(`${SH}${script}`, async (run) => {
      ({ message } = await refusal(run()));
    });
    return message;
  };
  assertMatch(await messageOf("echo Traceback:; seq 100\n"), /with no JSON: "Traceback:…"$/);
  assertMatch(await messageOf("printf '%0301d' 0\n"), /with no JSON: a line of 301 characters$/);
});

Deno.test("a response that is too long or nested too deep is rejected", async () => {
  const script = `${SH}printf '{"status": 0, "res": {"a": "'\nhead -c 67200000 /dev/zero | ` +
    `tr '\\0' a\nprintf '"}}'\n`;
  await plugin(script, async (run) => {
    const { message } = await refusal(run());
    assertEquals(message, 'the plugin "foo" answered with more than 64 MiB');
  });
  const deep = `{"status": 0, "res": {"a": ${"[".repeat(5000)}${"]".repeat(5000)}}}`;
  await plugin(`${SH}cat <<'END'\n${deep}\nEND\n`, async (run) => {
    assertMatch((await refusal(run())).message, /answered with no JSON: /);
  });
});

Deno.test("a plugin is ended with all that it started when its time is over", async () => {
  const script = `${SH}sleep 300 &\necho $! > "$(dirname "$0")/pid"\necho waiting >&2\nwait\n`;
  await plugin(script, async (run, context, directory) => {
    const running = refusal(run());
    const pid = () => Number(Deno.readTextFileSync(`${directory}/pid`));
    await until(() => {
      try {
        return pid() > 0 && isRunning(pid());
      } catch {
        return false;
      }
    }, "the plugin has begun");
    context.stop(new StepError("the step timed out after 1s"));
    const { message, hint } = await running;
    assertEquals(message, "the step timed out after 1s");
    assertEquals(hint, "stderr:\n  waiting");
    assertEquals(isRunning(pid()), false);
    assertEquals(context.stops, 0);
  });
});

Deno.test("a plugin that cannot be started is an error that says why", async (test) => {
  const table: [name: string, script: string, mode: number, message: RegExp][] = [
    ["without its interpreter", "#!/no/such/thing\n", 0o755, /"runner-foo" does not exist, or/],
    ["without a right", `${SH}${GOOD}`, 0o644, /permission to execute "runner-foo" is denied/],
  ];
  for (const [name, script, mode, message] of table) {
    await test.step(name, async () => {
      await plugin(script, async (run, _context, directory) => {
        await Deno.chmod(`${directory}/runner-foo`, mode);
        const error = await refusal(run());
        assertMatch(error.message, message);
        assertMatch(error.message, /^cannot run the plugin "foo": /);
      });
    });
  }
  await test.step("that is gone", async () => {
    await plugin(SH, async (run, _context, directory) => {
      await Deno.remove(`${directory}/runner-foo`);
      assertMatch((await refusal(run())).message, /"runner-foo" does not exist, or/);
    });
  });
});
