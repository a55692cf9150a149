import { assert, assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";

interface Module {
  readonly specifier: string;
  readonly dependencies?: readonly {
    readonly code?: { readonly specifier?: string };
    readonly isDynamic?: boolean;
  }[];
}

/** Returns the modules that are loaded when a program imports the library, by path. */
async function loadedAtOnce(): Promise<string[]> {
  const root = new URL("../../", import.meta.url).href;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", "mod.ts"],
    cwd: fromFileUrl(root),
  }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: Module[] };
  const known = new Map(modules.map((module) => [module.specifier, module]));
  const loaded = new Set([`${root}mod.ts`]);
  // A set that grows is walked to its end.
  for (const specifier of loaded) {
    for (const { code, isDynamic } of known.get(specifier)?.dependencies ?? []) {
      if (code?.specifier !== undefined && !isDynamic) loaded.add(code.specifier);
    }
  }
  return [...loaded].map((specifier) => specifier.replace(root, ""));
}

Deno.test("a program that only evaluates expressions does not load the code that runs workflows", async () => {
  const loaded = await loadedAtOnce();
  assert(loaded.includes("src/expr/evaluate_expression.ts"), loaded.join("\n"));
  const layers = /^src\/(host|action|workflow|plan|run|report|cli)\//;
  assertEquals(loaded.filter((path) => layers.test(path)), []);
});
