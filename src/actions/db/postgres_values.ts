import { jsonOrText } from "../../base/value/parse_json.ts";
import { integer, type Value } from "../../base/value/value.ts";
import { bytesValue, numberValue, timeValue } from "./driver.ts";

type Parse = (text: string) => Value;

const number: Parse = (text) => numberValue(Number(text));
const truth: Parse = (text) => text === "t";
// A session may have set another form of bytes.
const bytes: Parse = (text) =>
  text.startsWith("\\x") ? bytesValue(Uint8Array.fromHex(text.slice(2))) : text;
const asText: Parse = (text) => text;

/** Types that are not text, by number; the second is the number of their arrays. */
const TYPES: readonly (readonly [number, number, Parse])[] = [
  [16, 1000, truth],
  [17, 1001, bytes],
  [20, 1016, (text) => integer(BigInt(text))],
  [21, 1005, number],
  [23, 1007, number],
  [26, 1028, number],
  [700, 1021, number],
  [701, 1022, number],
  [114, 199, jsonOrText],
  [3802, 3807, jsonOrText],
  [1114, 1115, timeValue],
  [1184, 1185, timeValue],
  [1266, 1270, timeValue],
];

/** Arrays of types that stay text: char, name, text, uuid, inet, numeric, date, interval, … */
const TEXT_ARRAYS = [
  ...[143, 651, 775, 791, 1002, 1003, 1008, 1009, 1014, 1015, 1034, 1040, 1041, 1182, 1183, 1187],
  ...[1231, 1561, 1563, 2287, 2951, 3643, 3905, 3907, 3909, 3911, 3913, 3927],
];

const PARSERS: ReadonlyMap<number, Parse> = new Map([
  ...TYPES.flatMap(([type, array, parse]): [number, Parse][] => [
    [type, parse],
    [array, (text) => parseArray(text, parse)],
  ]),
  ...TEXT_ARRAYS.map((type): [number, Parse] => [type, (text) => parseArray(text, asText)]),
]);

/** Returns the reader for the text of a value of the type with this number. */
export function parserOf(type: number): Parse {
  return PARSERS.get(type) ?? asText;
}

/** Reads `{1,NULL,"a \"b\"",{2}}`; bounds before it, `[0:1]={…}`, are left out. */
export function parseArray(text: string, parse: Parse): Value {
  const stack: Value[][] = [[]];
  for (const [part, quoted] of text.matchAll(/"((?:[^"\\]|\\.)*)"|[{}]|[^{},"]+/gs)) {
    if (part === "{") {
      stack.push([]);
    } else if (part === "}") {
      const list = stack.pop()!;
      stack.at(-1)!.push(list);
    } else if (stack.length > 1) {
      const value = quoted === undefined
        ? part === "NULL" ? null : parse(part)
        : parse(quoted.replace(/\\(.)/gs, "$1"));
      stack.at(-1)!.push(value);
    }
  }
  return stack[0]![0] ?? [];
}
