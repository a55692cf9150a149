import { withoutPassword } from "../secrets/secrets.ts";
import { textOf } from "./text_of.ts";
import { duration, flag, integer, type Rule, text, value } from "./schema.ts";

/** A name or an address, without a port. */
export const host = (summary = "The host or address"): Rule<string> =>
  text(summary).as((host, param) => {
    // An address of IPv6 has two colons at least.
    if (host !== "" && !/[\s\p{Cc}/@[\]]|^[^:]*:[^:]*$/u.test(host)) return host;
    const hint = "write a name or an address; the port has its own key";
    throw param.wrong(`invalid host "${withoutPassword(host)}"`, hint);
  });

/** A port. */
export const port = (summary = "The port"): Rule<number> =>
  integer(summary).as((port, param) => {
    if (port >= 1 && port <= 65_535) return port;
    throw param.wrong(`invalid port ${port}`, "ports are 1 to 65535");
  });

/** A text, or a list of texts; anything that is not text is sent as JSON. */
export const texts = (summary: string): Rule<readonly string[]> =>
  value(["string", "list"], summary).as((value) =>
    [value].flat().map((one) => one === null ? "" : textOf(one))
  );

/** A bare expression that is evaluated for each of these; undefined where it is left out. */
export const condition = (summary: string, ...names: readonly string[]) =>
  text(summary).as((source, param) => {
    if (source.trim() !== "") return source;
    throw param.wrong(`${param.name} is empty`, "write an expression, or leave it out");
  }).with({ expression: names });

/** `timeout`, which the seam applies once it is the step's turn. */
export const timeout = (
  summary: string,
  milliseconds = 0,
  inDocuments = "the timeout of the step",
): { readonly timeout: Rule<number, number> } => ({
  timeout: duration(summary).default(milliseconds, inDocuments),
});

/** `connection` and `fresh`, which decide whether steps share a connection. */
export const sharing = (
  what: string,
  each: string,
): { readonly connection: Rule<string, string>; readonly fresh: Rule<boolean, boolean> } => ({
  connection: text(`A name under which all jobs of the run share the ${what}`)
    .default("", `one for each ${each}`),
  fresh: flag("Whether to open a connection only for this step").default(false),
});
