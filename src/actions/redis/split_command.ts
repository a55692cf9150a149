import { StepError } from "../../base/errors.ts";
import { describeValue, isDict } from "../../base/value/value.ts";
import type { Value } from "../../action/action.ts";
import { typeWords } from "../../action/parameters.ts";

/** The words of a command: of a list as they are, of a text between spaces outside quotes. */
export function splitCommand(command: Value, parameter: string): string[] {
  if (isDict(command)) {
    const message = `"${parameter}" must be ${typeWords(["string", "list"])}, not a map`;
    throw new StepError(`cannot run redis: ${message}`, undefined, { parameter });
  }
  const words = Array.isArray(command) ? command.map(toWord) : splitText(String(command));
  if (words === undefined || words.length === 0 || words[0] === "") {
    const what = words === undefined ? "has a quote that is not closed" : "has no words";
    throw new StepError(
      `cannot run redis: the command ${describeValue(command)} ${what}`,
      'write it as a list: [SET, key, "a value"]',
      { parameter },
    );
  }
  // The library treats some names in small letters in its own way.
  const [name, ...others] = [words[0]!.toUpperCase(), ...words.slice(1)];
  if (ENDLESS.includes(name)) {
    throw new StepError(
      `cannot run redis: ${name} is not supported, because it waits for messages without end`,
      "XREAD and BLPOP wait for one",
      { parameter },
    );
  }
  return [name, ...others];
}

/** Commands that turn the connection into one that only receives. */
const ENDLESS = ["SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC"];

function toWord(value: Value): string {
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** Undefined where a quote is not closed. */
function splitText(text: string): string[] | undefined {
  const words: string[] = [];
  let rest = text.trim();
  while (rest !== "") {
    const [word] = /^(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'])+/s.exec(rest) ?? [];
    if (word === undefined) return undefined;
    words.push(
      word.replace(
        /"((?:[^"\\]|\\.)*)"|'([^']*)'/gs,
        (_, double, single) => single ?? double.replace(/\\(.)/gs, unescape),
      ),
    );
    rest = rest.slice(word.length);
    if (rest !== "" && !/^\s/.test(rest)) return undefined;
    rest = rest.trimStart();
  }
  return words;
}

function unescape(_: string, letter: string): string {
  return { n: "\n", r: "\r", t: "\t" }[letter] ?? letter;
}
