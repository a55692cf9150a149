import { stepText } from "../../base/value/plain.ts";
import type { ApiReply, Operation, Success } from "../read/api.ts";

/** The test of a step: the documented status code and the required fields of the response. */
export function testOf({ success, reply, method }: Operation): string {
  const conditions = [codeTest(success)];
  if (reply && method !== "head") conditions.push(...replyTests(reply));
  const line = conditions.join(" && ");
  // A block is easier to read than quotes.
  const isPlain = line.length <= LONGEST_LINE && !line.includes(" #");
  return isPlain ? line : `${conditions.join(" &&\n")}\n`;
}

const LONGEST_LINE = 90;
/** Up to this many fields are tested one by one. */
const FEW_FIELDS = 4;

function codeTest(success: Success): string {
  switch (success.kind) {
    case "codes": {
      const [first, ...others] = success.codes;
      return others.length === 0
        ? `res.code == ${first}`
        : `res.code in [${success.codes.join(", ")}]`;
    }
    case "range":
      return `${success.from} <= res.code && res.code < ${success.from + 100}`;
    case "any":
      return "res.code < 400";
  }
}

function replyTests({ type, required }: ApiReply): string[] {
  switch (type) {
    case "array":
      return ['type(res.body) == "array"'];
    case "other":
      return [];
    case "object":
      break;
  }
  if (required.length > FEW_FIELDS) {
    const names = required.map(({ name }) => JSON.stringify(name));
    return [`all([${wrap(names)}], # in res.body)`];
  }
  return required.map(({ name, isNullable }) =>
    isNullable ? `${JSON.stringify(name)} in res.body` : `${accessTo("res.body", [name])} != nil`
  );
}

/** An expression that reads a field of a value by its path. */
export function accessTo(value: string, path: readonly string[]): string {
  return value + path.map(stepText).join("");
}

/** Words with commas, in lines that are not too long. */
function wrap(words: readonly string[]): string {
  const lines: string[] = [];
  let line = "";
  for (const word of words) {
    const longer = line === "" ? word : `${line}, ${word}`;
    if (longer.length > LONGEST_LINE && line !== "") {
      lines.push(`${line},`);
      line = word;
    } else {
      line = longer;
    }
  }
  return [...lines, line].join("\n  ");
}
