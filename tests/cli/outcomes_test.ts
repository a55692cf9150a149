import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

Deno.test("uses: assert is the action of a step that only asserts", () =>
  withFiles({
    "w.yml": `name: n
jobs:
- name: j
  steps:
  - { id: a, uses: hello, outputs: { total: 12 } }
  - { uses: assert, test: outputs.a.total == 12 }
  - { uses: assert, test: outputs.a.total == 13 }
`,
    "without.yml": "name: n\njobs:\n- name: j\n  steps:\n  - test: 1 == 1\n",
  }, async (cwd) => {
    const { code, stdout } = await runMain(["w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "   2. ✓ assert\n   3. ✗ assert\n");
    assertStringIncludes(stdout, "outputs.a.total is 12 (int)");
    // The format wants an action of every step.
    const { code: refused, stderr } = await runMain(["without.yml"], { cwd });
    assertEquals(refused, 1);
    assertStringIncludes(stderr, 'without.yml:5:5: error: a step needs "uses"');
    assertStringIncludes(stderr, '^^^^^^^^^^^^ a step that only asserts is "uses: assert"');
  }));
