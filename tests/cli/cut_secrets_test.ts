import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { assertHidden } from "../support/assert_hidden.ts";
import { runCli } from "../support/run_cli.ts";
import { readFolder } from "../support/run_reports.ts";
import { withFiles } from "../support/temp_dir.ts";

Deno.test("a cut output shows no half of a secret", async () => {
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - uses: shell
        with: { cmd: 'printf "\${A_TOKEN}1234567"', max_output: 12 }
        test: "false"
        echo: "{{res.stdout}}"
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const env = { A_TOKEN: "supersecret" };
    const { stdout } = await runCli(["-v", "w.yml"], { cwd, env });
    assertStringIncludes(stdout, "1234567");
    assert(!stdout.includes("t1234567"), stdout);
  });
});

Deno.test("a cut output shows no secret in base64 lines of which the first is cut", async () => {
  const token = "a-long-token-of-many-characters-that-base64-breaks-into-lines";
  const before = "what stands in a line before it, in full length";
  const [first, second] = btoa(`${before}${token}`).match(/.{1,76}/g)!;
  const secret = first!.slice(-12) + second;
  for (const left of [75, 30, 16, 15, 13, 10, 1, 0]) {
    const workflow = `name: n
jobs:
  - name: j
    steps:
      - uses: shell
        with:
          cmd: 'printf "${before}$A_TOKEN" | base64'
          max_output: ${left + second!.length + 2}
        test: "false"
`;
    await withFiles({ "w.yml": workflow }, async (cwd) => {
      const { stdout } = await runCli(["-v", "w.yml"], { cwd, env: { A_TOKEN: token } });
      assertStringIncludes(stdout, "truncated: true");
      for (let at = 0; at + 8 <= secret.length; at++) {
        assertHidden(secret.slice(at, at + 8), stdout, `${left}`);
      }
    });
  }
});

Deno.test("what a command printed before its time was over shows no part of a secret", async () => {
  const secret = Array.from({ length: 60 }, (_, line) => `line${line}`).join("\n");
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - uses: shell
        with: { cmd: 'echo before; echo "$A_TOKEN"; exec sleep 60', timeout: 500ms }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { stdout } = await runCli(["w.yml", "--report", "junit=j.xml"], {
      cwd,
      env: { A_TOKEN: secret },
    });
    assertStringIncludes(stdout, "stdout:\n             before\n             ***\n");
    assert(!(stdout + await Deno.readTextFile(`${cwd}/j.xml`)).includes("line5"), stdout);
  });
});

Deno.test("what a command printed before it was ended in a secret shows nothing of that", async () => {
  const workflow = `name: n
jobs:
  - name: ended
    steps:
      - uses: shell
        with: { cmd: 'printf "before: hunter22-sec"; exec sleep 60', timeout: 300ms }
  - name: goes on
    steps:
      - uses: shell
        with: { cmd: '(printf "after: hunter22-sec"; exec sleep 60) & sleep 0.2; exit 1' }
        test: status == 0
`;
  await withFiles({ "w.yml": workflow.replaceAll("hunter22-sec", "$PART") }, async (cwd) => {
    const env = { A_TOKEN: "hunter22-secret", PART: "hunter22-sec" };
    const { stdout } = await runCli(["-v", "w.yml"], { cwd, env });
    assertMatch(stdout, /stdout: before:/);
    assertMatch(stdout, /stdout: after:/);
    assert(!stdout.includes("hunt"), stdout);
  });
});

Deno.test("what keeps a workflow from running shows no secret, also where it is cut", async () => {
  const secret = "hunter22secret";
  const steps = (step: string) => `name: n\njobs:\n- name: j\n  steps:\n  - ${step}\n`;
  const files: Record<string, string> = {
    [`${secret}.yml`]: steps(`{uses: hello, ${secret}: 1}`).replace("hello", secret),
    "vars.yml": `${steps("{uses: hello}")}vars: {a: "{{ int('${secret}') }}"}\n`,
    "word.yml": steps(`{uses: hello, test: status ${secret}${secret}}`),
  };
  for (let before = 60; before < 100; before += 5) {
    const filler = "x".repeat(before);
    files[`a${before}.yml`] = steps(`{uses: hello, nane: "${filler}${secret}${filler}"}`);
    files[`b${before}.yml`] = steps(`{uses: hello, with: {a: "${secret}${filler}", b: "{{ x }}"}}`);
  }
  await withFiles(files, async (cwd) => {
    for (const file of [...Object.keys(files), `${secret}/missing.yml`]) {
      const { stderr } = await runCli([file], { cwd, env: { MY_TOKEN: secret } });
      assert(stderr.includes("error: ") || stderr.includes("warning: "), file);
      assert(!/hunt|ecret/.test(stderr), stderr);
    }
  });
});

Deno.test("where a long line is cut, no piece of a secret is left", async () => {
  const secret = "hunter2-is-not-a-good-one";
  for (const filler of [secret, btoa(secret), "12345", ` ${secret} `]) {
    const text = filler.repeat(200).slice(0, 4000);
    const step = { uses: "hello", with: { a: text }, test: "1 == 2", vars: { b: text } };
    const job = { name: "j", steps: [step, { ...step, with: { [text]: 1 } }, step] };
    await withFiles({ "w.yml": JSON.stringify({ name: "n", jobs: [job] }) }, async (cwd) => {
      const args = ["--report-dir", "reports", "w.yml"];
      const { code, stdout, stderr } = await runCli(args, { cwd, env: { MY_TOKEN: secret } });
      assertEquals(code, 1);
      for (const text of [stdout, stderr, ...Object.values(readFolder(`${cwd}/reports`))]) {
        for (const form of [secret, btoa(secret)]) {
          for (let at = 0; at + 8 <= form.length; at++) {
            assertHidden(form.slice(at, at + 8), text, filler);
          }
        }
      }
    });
  }
});
