import { findExchangedSecrets, findVariableSecrets } from "../../secrets/find_secrets.ts";
import { SHORTEST_SECRET } from "../../secrets/secrets.ts";
import { isRawMap } from "../../workflow/decode/decode_value.ts";
import { isStandIn, type LiteralSecret } from "./literal_secrets.ts";

/**
 * Finds what a run would mask in the vars and in what the steps send: passwords in URLs, fields
 * with secret names also within texts, and all passwords of `auth`. It finds more than
 * `findLiteralSecrets`, for files that nobody has written by hand.
 */
export function findSentSecrets(root: unknown): readonly LiteralSecret[] {
  const secrets: LiteralSecret[] = [];
  const path: (string | number)[] = [];
  const vars = new Map(Object.entries(isRawMap(root) && isRawMap(root.vars) ? root.vars : {}));
  const walk = (value: unknown) => {
    if (typeof value === "string") {
      const secret = secretIn(value, path);
      if (secret !== undefined) secrets.push({ path: [...path], why: "it is sent", ...secret });
      for (const [whole, name = ""] of value.matchAll(/\{\{vars\.(\w+)\}\}/g)) {
        // A var whose own name does not say it.
        const text = String(vars.get(name) ?? whole);
        if (!secretIn(value.replace(whole, () => text), path)?.text.endsWith(text)) continue;
        secrets.push({ path: ["vars", name], why: "it is sent", text });
        vars.delete(name);
      }
    } else if (typeof value === "object" && value !== null) {
      for (const [key, part] of Object.entries(value)) {
        path.push(Array.isArray(value) ? Number(key) : key);
        if (path[0] === "vars" || path[0] === "jobs" && isSent(path)) walk(part);
        path.pop();
      }
    }
  };
  if (isRawMap(root)) walk(root);
  return secrets;
}

/** Whether a part of a job is, has or is in the `with` of a step. */
function isSent(path: readonly (string | number)[]): boolean {
  return (path[2] ?? "steps") === "steps" && (path[4] ?? "with") === "with";
}

function secretIn(
  value: string,
  path: readonly (string | number)[],
): Pick<LiteralSecret, "text" | "range"> | undefined {
  const inside = path.slice(5);
  const isAuth = inside.includes("auth");
  const name = String(path.findLast((part) => typeof part === "string"));
  // The values of cookies are mostly settings.
  if (/^cookie$/i.test(name)) return undefined;
  let found: string | undefined;
  const add = (text: string) => {
    const isLong = text.length >= (isAuth ? 1 : SHORTEST_SECRET);
    if (isLong && !text.includes("{{") && !isStandIn(text) && value.includes(text)) found ??= text;
  };
  if (path[0] === "vars") findVariableSecrets({ [name]: value }, add);
  else if (inside.includes("headers")) findExchangedSecrets({ headers: { [name]: value } }, add);
  else findExchangedSecrets({ [name]: value }, add);
  if (found === undefined) return undefined;
  if (found === value) return { text: found };
  const start = value.lastIndexOf(found);
  return { text: found, range: { start, end: start + found.length } };
}
