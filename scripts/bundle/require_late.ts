/**
 * The line with which the bundler gives libraries in CommonJS their `require()`, whatever it calls
 * its parts. All chunks share it, and `node:module` takes longer to load than the program.
 */
const EARLY =
  /import ?\{ ?createRequire as ([\w$]+) ?\} ?from ?"node:module";\s*var ([\w$]+) ?= ?\1\(import\.meta\.url\);/;

/** The chunk with a `require()` that loads `node:module` when it is first called. */
export function requireLate(chunk: string): string {
  const [, , name] = EARLY.exec(chunk) ?? [];
  if (name === undefined) return chunk;
  const made = `process.getBuiltinModule("node:module").createRequire(import.meta.url)`;
  return chunk.replace(EARLY, () => `var ${name}=id=>(${name}=${made})(id);`);
}
