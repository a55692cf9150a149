import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { failureAt80 } from "../support/failures_at_80.ts";
import { inPlace, OF_ORDER, workflow } from "../support/snapshot_place.ts";

Deno.test("a snapshot is written, compared, refused, updated, orphaned and removed", async () => {
  const first = workflow("{ name: tea, id: 1 }", OF_ORDER);
  const second = workflow("{ name: milk, id: 1 }", OF_ORDER);
  await inPlace({ "w.yml": first }, async ({ run, inCi, write, snapshots }) => {
    const missing = await inCi("w.yml");
    assertEquals(missing.code, 1);
    assertStringIncludes(
      missing.stdout,
      'the snapshot "__snapshots__/w/shop.get.json" does not exist',
    );
    assertEquals((await run("--snapshot", "check", "w.yml")).code, 1);
    assertEquals(await snapshots(), {});

    const written = await run("w.yml");
    assertStringIncludes(
      written.stdout,
      "✓ hello\n        snapshot written: __snapshots__/w/shop.get.json",
    );
    assertEquals(await snapshots(), { "shop.get.json": '{\n  "id": 1,\n  "name": "tea"\n}\n' });

    assertEquals((await inCi("w.yml")).code, 0);
    assertEquals((await run("w.yml")).stdout.includes("snapshot"), false);

    await write("w.yml", second);
    const other = await run("w.yml");
    assertEquals(other.code, 1);
    assertStringIncludes(other.stdout, '-   "name": "tea"\n        +   "name": "milk"');
    assertStringIncludes(other.stdout, "run it with --update-snapshots to accept");

    const updated = await run("--update-snapshots", "w.yml");
    assertEquals(updated.code, 0);
    assertStringIncludes(updated.stdout, "snapshot updated: __snapshots__/w/shop.get.json");
    assertEquals((await inCi("w.yml")).code, 0);

    await write("w.yml", second.replace("id: get", "id: fetch"));
    const orphan = await run("w.yml");
    assertStringIncludes(
      orphan.stderr,
      'no step names the snapshot "__snapshots__/w/shop.get.json"',
    );
    assertEquals(Object.keys(await snapshots()), ["shop.fetch.json", "shop.get.json"]);
    const removed = await run("--update-snapshots=all", "w.yml");
    assertStringIncludes(removed.stderr, "removed the snapshot");
    assertEquals(Object.keys(await snapshots()), ["shop.fetch.json"]);
  });
});

Deno.test("a snapshot of nil is an error, and no file is written", async () => {
  const nil = workflow("{ id: 1, name: null }", "snapshot: { of: vars.order.name }");
  await inPlace({ "w.yml": nil }, async ({ run, snapshots }) => {
    const { code, stdout } = await run("w.yml");
    assertEquals(code, 1);
    assertStringIncludes(stdout, "vars.order.name is nil: there is nothing to compare");
    assertEquals(await snapshots(), {});
  });
});

Deno.test("--update-snapshots never takes the next argument, and does not go with --snapshot", async () => {
  await inPlace({ "w.yml": workflow("1", OF_ORDER), all: "" }, async ({ run }) => {
    assertEquals((await run("--update-snapshots", "w.yml")).code, 0);
    assertStringIncludes(
      (await run("--update-snapshots=some", "w.yml")).stderr,
      'invalid value "some"',
    );
    const both = await run("--update-snapshots", "--snapshot=check", "w.yml");
    assertStringIncludes(both.stderr, "cannot be combined");
    assertStringIncludes((await run("--snapshot=no", "w.yml")).stderr, 'invalid value "no"');
  });
});

Deno.test("strings are kept as text, and a value that becomes another type replaces its file", async () => {
  const text = workflow(`"line 1\\r\\nline 2"`, OF_ORDER);
  await inPlace({ "w.yml": text }, async ({ run, write, snapshots }) => {
    await run("w.yml");
    assertEquals(await snapshots(), { "shop.get.txt": "line 1\nline 2" });
    assertEquals((await run("w.yml")).code, 0);
    await write("w.yml", workflow("[2, 1]", OF_ORDER));
    assertEquals((await run("w.yml")).code, 1);
    await run("--update-snapshots", "w.yml");
    assertEquals(await snapshots(), { "shop.get.json": "[\n  2,\n  1\n]\n" });
  });
});

Deno.test("what a file cannot hold as it is is the same the next time", async () => {
  for (const text of [String.raw`"\uFEFFa,b"`, String.raw`"a\r\r\nb"`, "[.inf, .nan]"]) {
    await inPlace({ "w.yml": workflow(text, OF_ORDER) }, async ({ run, inCi }) => {
      assertEquals((await run("w.yml")).code, 0);
      const { code, stdout } = await inCi("w.yml");
      assertEquals(code, 0, stdout);
    });
  }
});

Deno.test("ignored and matched values may change", async () => {
  const rules =
    `snapshot: { of: vars.order, ignore: ["$..at"], match: { "$.id": uuid, "$.n": integer } }`;
  const order = (id: string, n: string) =>
    `{ id: "${id}", n: ${n}, log: [{ at: ${n} }, { at: 2 }], name: tea }`;
  const files = {
    "w.yml": workflow(order("123e4567-e89b-12d3-a456-426614174000", "1"), rules),
  };
  await inPlace(files, async ({ run, write, snapshots }) => {
    await run("w.yml");
    const { "shop.get.json": kept = "" } = await snapshots();
    assertEquals(JSON.parse(kept), {
      id: "<uuid>",
      log: [{ at: "<ignored>" }, { at: "<ignored>" }],
      n: "<integer>",
      name: "tea",
    });
    await write("w.yml", workflow(order("00000000-e89b-12d3-a456-426614174000", "5"), rules));
    assertEquals((await run("w.yml")).code, 0);
    await write("w.yml", workflow(order("7", "x"), rules));
    const wrong = await run("--update-snapshots", "w.yml");
    assertEquals(wrong.code, 1);
    assertStringIncludes(wrong.stdout, '@ .id\n        - uuid\n        + "7"\n        @ .n\n');
    assertEquals(await snapshots(), { "shop.get.json": kept });
  });
});

Deno.test("rounds and entries are numbered from 1, and steps of job files are inside their step", async () => {
  const files = {
    "w.yml": `name: n
jobs:
  - name: rounds
    id: rounds
    repeat: { count: 2 }
    steps:
      - { uses: hello, id: one, snapshot: { of: repeat_index } }
      - { uses: hello, id: two, iteration: [{ x: a }, { x: b }], snapshot: { of: vars.x } }
  - name: no id
    steps:
      - { uses: embedded, id: outer, with: { path: job.yml } }
      - { uses: hello, snapshot: { of: '"named"', name: mine } }
`,
    "job.yml": "name: inner\nsteps:\n  - { uses: hello, id: in, snapshot: { of: 1 } }\n",
  };
  await inPlace(files, async ({ run, snapshots }) => {
    const { code, stdout } = await run("w.yml");
    assertEquals(code, 0, stdout);
    assertStringIncludes(stdout, "\nSnapshots  8 written\n");
    assertEquals(Object.keys(await snapshots()), [
      "mine.txt",
      "outer.in.json",
      "rounds.one.1.json",
      "rounds.one.2.json",
      "rounds.two.1.1.txt",
      "rounds.two.1.2.txt",
      "rounds.two.2.1.txt",
      "rounds.two.2.2.txt",
    ]);
    const again = await run("--only", "rounds", "w.yml");
    assertEquals(again.stderr, "", "what was not selected is not an orphan");
  });
});

Deno.test("secrets are masked before a snapshot is written", async () => {
  const order =
    `{ user: { password: hunter22-long, name: ann }, list: [{ api_token: abcdef123456 }] }`;
  const file = workflow(order, "snapshot: { of: vars.order }");
  await inPlace({ "w.yml": file }, async ({ run, snapshots }) => {
    await run("w.yml");
    const { "shop.get.json": kept = "" } = await snapshots();
    assertEquals(JSON.parse(kept), {
      user: { password: "***", name: "ann" },
      list: [{ api_token: "***" }],
    });
    assertEquals((await run("w.yml")).code, 0);
  });
});

Deno.test("match gives rules for secrets, too", async () => {
  const rules = `snapshot: { of: vars.order, match: { "$.token": "/^t-/" } }`;
  const order = (token: string) => workflow(`{ token: ${token} }`, rules);
  await inPlace({ "w.yml": order("t-abcdef123456") }, async ({ run, write, snapshots }) => {
    await run("w.yml");
    assertEquals(await snapshots(), { "shop.get.json": '{\n  "token": "</^t-/>"\n}\n' });
    await write("w.yml", order("t-654321fedcba"));
    assertEquals((await run("w.yml")).code, 0);
    await write("w.yml", order("654321fedcba"));
    assertEquals((await run("w.yml")).code, 1);
  });
});

Deno.test("a step that failed otherwise writes no snapshot", async () => {
  for (
    const fields of [
      "test: status == 1",
      "test: [status == 0, vars.nope.x]",
      'echo: "{{vars.nope.x}}"',
      "outputs: { a: vars.nope.x }",
      "max_time: 0s",
    ]
  ) {
    await inPlace(
      { "w.yml": workflow("1", `${fields}, ${OF_ORDER}`) },
      async ({ run, snapshots }) => {
        const { code, stdout } = await run("--update-snapshots", "w.yml");
        assertEquals(code, 1, fields);
        assertEquals(stdout.includes("snapshot written"), false, fields);
        assertEquals(await snapshots(), {}, fields);
      },
    );
  }
});

Deno.test("a directory in place of a snapshot is a failure that says so", async () => {
  const flow = `name: n
jobs: [{ id: j, name: j, steps: [{ id: s, uses: hello, snapshot: { of: "1" } }] }]
`;
  const files = { "w.yml": flow, "__snapshots__/w/j.s.json/x": "" };
  await inPlace(files, async ({ run }) => {
    const { code, stdout } = await run("w.yml");
    assertEquals(code, 1);
    assertStringIncludes(stdout, "cannot write the snapshot: it is a directory");
  });
});

Deno.test("runs at the same time write whole snapshots", async () => {
  const flow = (value: number) =>
    `name: n
jobs:
  - { id: j, name: j, steps: [{ id: s, uses: hello, snapshot: { of: 'repeat("${value}", 9999)' } }] }
`;
  await inPlace({ "w.yml": flow(1) }, async ({ run, write, snapshots }) => {
    await run("w.yml");
    await write("w.yml", flow(2));
    const all = await Promise.all(
      Array.from({ length: 8 }, () => run("--update-snapshots", "w.yml")),
    );
    assertEquals(all.map(({ code }) => code), Array(8).fill(0));
    assertEquals(await snapshots(), { "j.s.txt": "2".repeat(9999) });
  });
});

Deno.test("a snapshot tests its step, whatever the status is, and counts as an assertion", async () => {
  const file = workflow("1", `test: [vars.order == 1], ${OF_ORDER}`);
  await inPlace({ "w.yml": file }, async ({ run }) => {
    assertStringIncludes((await run("w.yml")).stdout, "✓ hello (2 assertions)");
  });
});

Deno.test("a clash of snapshots that only a run can know of is a failure", async () => {
  const embeds = "    steps:\n      - { uses: embedded, with: { path: job.yml } }\n";
  const files = {
    "w.yml": `name: n\njobs:\n  - name: a\n${embeds}  - name: b\n    needs: [job_0]\n${embeds}`,
    "job.yml": "name: inner\nsteps:\n  - { uses: hello, id: in, snapshot: { of: 1 } }\n",
  };
  await inPlace(files, async ({ run, snapshots }) => {
    const { code, stdout } = await run("w.yml");
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'two steps have the snapshot "__snapshots__/w/step1.in"');
    assertEquals(Object.keys(await snapshots()), ["step1.in.json"]);
  });
});

Deno.test("--update-snapshots=all removes all where no step has one any more", async () => {
  await inPlace({ "w.yml": workflow("1", OF_ORDER) }, async ({ run, write, snapshots }) => {
    await run("w.yml");
    await write("w.yml", workflow("1", "echo: x"));
    assertStringIncludes((await run("--update-snapshots", "w.yml")).stderr, "no step names");
    await run("--update-snapshots=all", "w.yml");
    assertEquals(await snapshots(), {});
  });
});

Deno.test("--allow-write applies to snapshots", async () => {
  await inPlace({ "w.yml": workflow("1", OF_ORDER) }, async ({ run, write, snapshots }) => {
    const { code, stdout } = await run("--allow-write", "elsewhere", "w.yml");
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'cannot write the snapshot "__snapshots__/w/shop.get.json"');
    assertEquals(await snapshots(), {});
    assertEquals((await run("--allow-write", "__snapshots__", "w.yml")).code, 0);
    const before = await snapshots();
    await write("w.yml", workflow("1", "test: status == 0"));
    const kept = await run("--allow-write", "elsewhere", "--update-snapshots=all", "w.yml");
    assertStringIncludes(kept.stdout + kept.stderr, "cannot remove the snapshot");
    assertEquals(await snapshots(), before);
  });
});

Deno.test("the HTML report has both sides of a snapshot", async () => {
  await inPlace({ "w.yml": workflow("{ a: 1 }", OF_ORDER) }, async ({ run, write }) => {
    await run("w.yml");
    await write("w.yml", workflow("{ a: 2 }", OF_ORDER));
    const { stdout } = await run("--report", "html=-", "w.yml");
    assertStringIncludes(stdout, '"sideBySide":true');
    assertStringIncludes(stdout, ".sides {");
  });
});

/** Snapshots that are wrong, and what check says. */
const MISTAKES: readonly (readonly [snapshot: string, message: string])[] = [
  ["snapshot: 5", '"snapshot" must be true or a map, not 5'],
  ["snapshot: { of: 1 +, name: a }", "unexpected end"],
  ['snapshot: { of: 1, ignore: ["$["] }', "invalid JSONPath"],
  ['snapshot: { of: 1, ignore: "$.a" }', '"ignore" must be a list'],
  ['snapshot: { of: 1, match: { "a": uuid } }', 'invalid JSONPath: it must start with "$"'],
  ['snapshot: { of: 1, match: { "$.a": uid } }', 'unknown rule "uid": did you mean "uuid"?'],
  ['snapshot: { of: 1, match: { "$.a": "/(/" } }', "invalid regular expression: missing closing )"],
  ['snapshot: { of: 1, match: { "$.a": 5 } }', 'a rule of "match" must be a string, not 5'],
  ["snapshot: { of: 1, name: a/b }", '"name" must be made of letters'],
  ["snapshot: { value: 1 }", 'unknown key "value" in snapshot'],
];

for (const [snapshot, message] of MISTAKES) {
  Deno.test(`check says what is wrong with ${snapshot}`, async () => {
    await inPlace({ "w.yml": workflow("1", snapshot) }, async ({ run }) => {
      const { stdout } = await run("check", "w.yml");
      assertStringIncludes(stdout, message);
    });
  });
}

Deno.test("without of, an action must give res.body", async () => {
  const shell = workflow("1", "snapshot: true").replace(
    "uses: hello",
    "uses: shell, with: { cmd: echo }",
  );
  await inPlace({ "w.yml": shell }, async ({ run }) => {
    const { stdout } = await run("check", "w.yml");
    assertStringIncludes(stdout, "the result of shell has no res.body");
    assertStringIncludes(stdout, "write what is compared: snapshot: { of: res.");
  });
  await inPlace({ "w.yml": workflow("1", "snapshot: true") }, async ({ run }) => {
    assertStringIncludes((await run("w.yml")).stdout, "the result has no res.body to compare");
  });
});

Deno.test("two steps cannot share a snapshot, and one without id needs a name", async () => {
  const step = (fields: string) => `      - { uses: hello, ${fields} }\n`;
  const twice = `name: n\njobs:\n  - name: j\n    id: a\n    steps:\n` +
    step("id: x, snapshot: { of: 1 }") + step("snapshot: { of: 1, name: X }") +
    step("snapshot: { of: 1 }");
  await inPlace({ "w.yml": twice }, async ({ run }) => {
    const { code, stdout } = await run("check", "w.yml");
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'two steps have the snapshot "a.X"');
    assertStringIncludes(stdout, "the snapshot of a step without id has no name");
    assert(!(await run("w.yml")).stdout.includes("✓"));
  });
});

Deno.test("check takes a snapshot for a test, which sees the outputs of its step", async () => {
  const file = `name: n
jobs:
  - name: j
    steps:
      - uses: shell
        id: a
        with: { cmd: "true" }
        outputs: { x: res.code }
        snapshot: { of: outputs.a.x }
      - { uses: hello, id: b, retry: { max_attempts: 2 }, snapshot: { of: 1 } }
`;
  await inPlace({ "w.yml": file }, async ({ run }) => {
    assertEquals((await run("check", "w.yml")).stdout, "1 workflow checked: ok\n");
  });
});

/** The snapshot of a step, the existing files, the options of the run, and the output. */
const FAILURES: readonly (readonly [
  title: string,
  snapshot: string,
  files: Readonly<Record<string, string>>,
  options: readonly string[],
  printed: string,
])[] = [
  [
    "a value differs",
    "{ of: vars.order }",
    { "j.s.json": '{"id": 7, "state": "paid", "tags": ["a", "b"]}' },
    [],
    `
w.yml:11:19: the result differs from its snapshot
  11 |         snapshot: { of: vars.order }
     |                   ^^^^^^^^^^^^^^^^^^
     | run it with --update-snapshots to accept the new result
- expected: __snapshots__/w/j.s.json
+ received: vars.order
@ .state
  {
    "id": 7
-   "state": "paid"
+   "state": "open"
    "tags": [
      "a"
      "b"
`,
  ],
  [
    "a key is new",
    "{ of: vars.order }",
    { "j.s.json": '{"id": 7, "tags": ["a", "b"]}' },
    [],
    `
w.yml:11:19: the result differs from its snapshot
  11 |         snapshot: { of: vars.order }
     |                   ^^^^^^^^^^^^^^^^^^
     | run it with --update-snapshots to accept the new result
- expected: __snapshots__/w/j.s.json
+ received: vars.order
@ .state
  {
    "id": 7
+   "state": "open"
    "tags": [
      "a"
      "b"
`,
  ],
  [
    "a key is gone",
    "{ of: vars.order }",
    { "j.s.json": '{"id": 7, "state": "open", "total": 3, "tags": ["a", "b"]}' },
    [],
    `
w.yml:11:19: the result differs from its snapshot
  11 |         snapshot: { of: vars.order }
     |                   ^^^^^^^^^^^^^^^^^^
     | run it with --update-snapshots to accept the new result
- expected: __snapshots__/w/j.s.json
+ received: vars.order
@ .total
      "a"
      "b"
    ]
-   "total": 3
  }
`,
  ],
  [
    "an item is new",
    "{ of: vars.order.tags }",
    { "j.s.json": '["a"]' },
    [],
    `
w.yml:11:19: the result differs from its snapshot
  11 |         snapshot: { of: vars.order.tags }
     |                   ^^^^^^^^^^^^^^^^^^^^^^^
     | run it with --update-snapshots to accept the new result
- expected: __snapshots__/w/j.s.json
+ received: vars.order.tags
@ [1]
  [
    "a"
+   "b"
  ]
`,
  ],
  [
    "a text differs",
    "{ of: vars.text }",
    { "j.s.txt": "one\ntwo\n3\n" },
    [],
    `
w.yml:11:19: the result differs from its snapshot
  11 |         snapshot: { of: vars.text }
     |                   ^^^^^^^^^^^^^^^^^
     | run it with --update-snapshots to accept the new result
- expected: __snapshots__/w/j.s.txt
+ received: vars.text
@ line 3
  one
  two
- 3
+ three
`,
  ],
  [
    "the type differs",
    "{ of: vars.order.id }",
    { "j.s.txt": "7" },
    [],
    `
w.yml:11:19: the result differs from its snapshot
  11 |         snapshot: { of: vars.order.id }
     |                   ^^^^^^^^^^^^^^^^^^^^^
     | run it with --update-snapshots to accept the new result
- expected: __snapshots__/w/j.s.txt
+ received: vars.order.id
- "7"
+ 7
`,
  ],
  [
    "the file is damaged",
    "{ of: vars.order.tags }",
    { "j.s.json": '<<<<<<< HEAD\n["a"]\n' },
    [],
    `
w.yml:11:19: the snapshot "__snapshots__/w/j.s.json" is not JSON
  11 |         snapshot: { of: vars.order.tags }
     |                   ^^^^^^^^^^^^^^^^^^^^^^^
     | --update-snapshots replaces it
`,
  ],
  [
    "there is none",
    "{ of: vars.order }",
    {},
    ["--snapshot", "check"],
    `
w.yml:11:19: the snapshot "__snapshots__/w/j.s.json" does not exist
  11 |         snapshot: { of: vars.order }
     |                   ^^^^^^^^^^^^^^^^^^
     | run it without CI=true, or with --snapshot=write, and commit the
     | file that is written
`,
  ],
  [
    "a value is not as match says",
    '{ of: vars.order, match: { "$.id": uuid, "$.tags[*]": "/^[0-9]/" } }',
    {},
    [],
    `
w.yml:11:19: values are not as the snapshot's match says
  11 |         snapshot: { of: vars.order, match: { "$.id": uuid, "$.ta…
     |                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
- expected: match
+ received: vars.order
@ .id
- uuid
+ 7
@ .tags[0]
- /^[0-9]/
+ "a"
@ .tags[1]
- /^[0-9]/
+ "b"
`,
  ],
  [
    "there is no res.body",
    "true",
    {},
    [],
    `
w.yml:11:19: the result has no res.body to compare
  11 |         snapshot: true
     |                   ^^^^
     | write what is compared: snapshot: { of: res.… }
`,
  ],
];

for (const [title, snapshot, files, options, printed] of FAILURES) {
  Deno.test(`the failure of a snapshot at 80 columns where ${title}`, async () => {
    const kept = Object.entries(files).map(([name, text]) => [`__snapshots__/w/${name}`, text]);
    const text = await failureAt80(
      `name: n
vars:
  order: { id: 7, state: open, tags: [a, b] }
  text: "one\\ntwo\\nthree\\n"
jobs:
  - name: j
    id: j
    steps:
      - uses: hello
        id: s
        snapshot: ${snapshot}
`,
      Object.fromEntries(kept),
      options,
    );
    assertEquals(`\n${text}\n`, printed);
  });
}
