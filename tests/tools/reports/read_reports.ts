/**
 * Reads reports as others read them. Takes lists of texts by the name of their format as JSON from
 * its input, and prints what readers of npm make of each.
 *
 * @module
 */
import { validate } from "ctrf";
import { parse } from "junit2json";
import MarkdownIt from "markdown-it";
import { marked } from "marked";
import { Parser } from "tap-parser";

type Reader = (text: string) => unknown;

const markdownIt = new MarkdownIt({ html: true, linkify: true });
markdownIt.linkify.set({ fuzzyLink: false });

const READERS: Readonly<Record<string, Reader>> = {
  junit: (text) => parse(text),
  tap: readTap,
  ctrf: (text) => {
    const { valid, errors = [] } = validate(JSON.parse(text));
    return valid ? [] : errors;
  },
  markdown: (
    text,
  ) => [
    markdownIt.render(text),
    marked.parse(text, { async: false, gfm: true }),
  ],
};

// deno-lint-ignore no-explicit-any
type Event = any;

/** The tests of a TAP stream; those with a `child` are made of others. */
function readTap(text: string): unknown {
  return treeOf(Parser.parse(text));
}

function treeOf(events: readonly Event[]): unknown {
  const tests: unknown[] = [];
  const noise: string[] = [];
  let child: unknown;
  let complete: Event;
  for (const [type, value] of events) {
    if (type === "child") child = treeOf(value);
    if (type === "extra" || type === "bailout") noise.push(`${type}: ${value}`);
    if (type === "complete") complete = value;
    if (type !== "assert") continue;
    const { ok, name, id, skip, todo, diag, time } = value;
    tests.push({ ok, name, id, skip, todo, diag, time, ...child ? { child } : {} });
    child = undefined;
  }
  const { ok, count, pass, fail, bailout, skip, failures, plan } = complete;
  return {
    ...{ ok, count, pass, fail, bailout, skip, plan: plan.end, tests, noise },
    // Errors of the parser itself, for example a plan that was not met.
    errors: failures.flatMap((one: Event) => one.tapError ?? []),
  };
}

const inputs: Record<string, string[]> = JSON.parse(
  await new Response(Deno.stdin.readable).text(),
);
const read: Record<string, unknown[]> = {};
for (const [format, texts] of Object.entries(inputs)) {
  read[format] = [];
  for (const text of texts) read[format].push(await READERS[format]!(text));
}
await new Response(JSON.stringify(read)).body!.pipeTo(Deno.stdout.writable);
