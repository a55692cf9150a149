import { assertEquals } from "@std/assert";
import { checkText, findIn } from "../support/check_text.ts";

const lines = (count: number, line: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => line(index)).join("");

/** Code that takes more than linear time needs much longer than this. */
const SECONDS = 120;

/** The findings that are located, and one that says how many there are besides. */
const MOST = 301;

const MONSTERS: readonly (readonly [name: string, text: string, findings: number])[] = [
  [
    "a chain of jobs that read from afar",
    "name: x\njobs:\n" +
    lines(
      4000,
      (i) =>
        `- {name: j, id: j${i}, needs: [${
          i > 0 ? `j${i - 1}` : ""
        }], steps: [{uses: hello, id: s${i}, ` +
        `outputs: {v: '1'}, test: outputs.s${(i * 7) % 4000}.v == outputs.v}]}\n`,
    ),
    MOST,
  ],
  [
    "misspelt names among many names",
    "name: x\nvars:\n" + lines(10_000, (i) => `  a${i}: 1\n`) +
    "jobs:\n- name: a\n  steps:\n" +
    lines(3000, (i) => `  - {uses: hello, test: vars.b${i} == outputs.nope${i}}\n`),
    MOST,
  ],
  [
    "what begins like a secret, again and again",
    `name: x\nvars:\n  a: "${"-----BEGIN PRIVATE KEY-----".repeat(10_000)}"\n` +
    `  cookie: "${"sid".repeat(100_000)}"\n  b: "bearer${" ".repeat(300_000)}"\n` +
    `jobs: [{name: a, steps: [{uses: hello, with: {all: "{{vars}}", ` +
    `headers: {cookie: "${"sid".repeat(100_000)}=${"x".repeat(9)}1"}}}]}]\n`,
    1,
  ],
];

for (const [name, text, findings] of MONSTERS) {
  Deno.test(`check gets through ${name}`, async () => {
    const began = performance.now();
    assertEquals((await checkText(text)).diagnostics.length, findings);
    assertEquals((performance.now() - began) / 1000 < SECONDS, true);
  });
}

Deno.test("aliases that repeat a part do not repeat its findings", async () => {
  const text = "name: x\nvars:\n  a0: &a0 {token: abcdef123}\n" +
    lines(12, (i) => `  a${i + 1}: &a${i + 1} [*a${i}, *a${i}]\n`) +
    "jobs: [{name: a, steps: [{uses: hello, with: {all: '{{vars}}'}}]}]\n";
  assertEquals(await findIn(text), [
    '3:19 warning literal-secret: "token" holds a hard-coded secret (read it from the environment: token: "{{TOKEN}}")',
  ]);
});

Deno.test("cycles and excessive sizes are reported, and nothing else", async () => {
  const [circle = ""] = await findIn("name: x\nvars: &a {b: *a}\njobs: []\n");
  assertEquals(circle.replace(/^\S+ /, ""), "error size: an alias refers to itself");
});
