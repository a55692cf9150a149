import { assertEquals } from "@std/assert";
import { failureAt80 } from "../../support/failures_at_80.ts";

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
