import { isRawMap } from "../../workflow/decode/decode_value.ts";
import { valueAt } from "../../base/value/value.ts";
import type { Document } from "../../workflow/model.ts";
import { type Problem, UNQUOTED_TEMPLATE } from "../../workflow/problem.ts";

/** Problems that keep the text at their place from being read as what it was meant to be. */
const UNREAD: ReadonlySet<string> = new Set([
  "duration",
  "expression",
  "open-braces",
  "type",
  "unknown-action",
  "unknown-key",
  // `outputs.my-step` is read as a subtraction, and `user` may be meant to be vars.user.
  "unknown-name",
]);

/** Words in texts that were not read: a name among them may be used or given there. */
export function findMentions(
  { value, files }: Document,
  problems: readonly Problem[],
): ReadonlySet<string> {
  const words = new Set<string>();
  const known = new Set<unknown>();
  for (const { code, path } of problems) {
    if (UNREAD.has(code)) addWords(words, valueAt(value, path), known, () => true);
  }
  if (problems.some(({ code }) => code === UNQUOTED_TEMPLATE)) {
    // YAML has kept nothing of what such a template says.
    const templates = files.flatMap(({ text }) => text.match(/\{\{[^}]*\}\}/g) ?? []);
    addWords(words, templates, known, () => true);
  }
  return words;
}

/** Words in the templates of defaults: no step may have taken these, and still they are uses. */
export function findDefaultWords(root: unknown): ReadonlySet<string> {
  const words = new Set<string>();
  const known = new Set<unknown>();
  const jobs = isRawMap(root) && Array.isArray(root.jobs) ? root.jobs : [];
  for (const job of jobs) {
    if (isRawMap(job)) addWords(words, job.defaults, known, (text) => text.includes("{{"));
  }
  return words;
}

function addWords(
  words: Set<string>,
  value: unknown,
  known: Set<unknown>,
  isWanted: (text: string) => boolean,
): void {
  // A text with many mistakes is searched once.
  if (known.has(value)) return;
  known.add(value);
  if (typeof value === "string") {
    if (isWanted(value)) { for (const [word] of value.matchAll(/[\w-]+/g)) addWord(words, word); }
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      addWords(words, key, known, isWanted);
      addWords(words, part, known, isWanted);
    }
  }
}

function addWord(words: Set<string>, word: string): void {
  words.add(word);
  for (const part of word.split("-")) words.add(part);
}
