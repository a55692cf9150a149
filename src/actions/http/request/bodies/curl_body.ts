import { isPrintable } from "../../../../base/text/printable.ts";
import { isDict } from "../../../../base/value/value.ts";
import type { Dict, Value } from "../../../../action/action.ts";

/** The body of a request as curl is given it. */
export interface CurlBody {
  readonly groups: readonly (readonly string[])[];
  /** The standard input of curl. */
  readonly input?: string;
  /** The preparation that the command needs. */
  readonly note?: string;
}

/** A longer body is not worth pasting. */
const LONGEST_BODY = 8192;

/** The file that is to hold a longer body. */
const BODY_FILE = "body";

/** The options that send the same body; undefined without one. */
export function curlBody({ body, file, multipart, compress }: Dict): CurlBody | undefined {
  if (compress !== undefined) return compressed(String(compress), file, multipart);
  if (typeof file === "string") return { groups: [["--data-binary", `@${file}`]] };
  if (isDict(multipart)) return { groups: formGroups(multipart) };
  const text = typeof body === "string" ? body : "";
  if (text === "") return undefined;
  if (text.length > LONGEST_BODY) {
    const note = `put the body, ${text.length} characters, into a file "${BODY_FILE}" first`;
    return { groups: [["--data-binary", `@${BODY_FILE}`]], note };
  }
  // In a word of the shell, line ends and invisible characters would have to be escaped.
  if (isPrintable(text) && !/[\n\t]/.test(text)) return { groups: [["--data-raw", text]] };
  return { groups: [["--data-binary", "@-"]], input: text };
}

/** curl does not compress what it sends. */
function compressed(how: string, file: Value | undefined, multipart: Value | undefined): CurlBody {
  const what = typeof file === "string"
    ? `"${file}"`
    : multipart === undefined
    ? "the body"
    : "the multipart body";
  return {
    groups: [["--data-binary", `@${BODY_FILE}`]],
    note: `put ${what}, compressed with ${how}, into a file "${BODY_FILE}" first`,
  };
}

function formGroups(multipart: Dict): string[][] {
  return Object.entries(multipart).flatMap(([name, value]) =>
    [value].flat().map((part: Value) => formWords(name, part))
  );
}

function formWords(name: string, part: Value): string[] {
  if (!isDict(part)) return ["--form-string", `${name}=${part}`];
  const { file, value, type, filename } = part;
  const content = file === undefined ? quoted(String(value)) : `@${quoted(String(file))}`;
  const options = [
    ...type === undefined ? [] : [`;type=${type}`],
    ...filename === undefined ? [] : [`;filename=${quoted(String(filename))}`],
  ];
  return ["--form", `${name}=${content}${options.join("")}`];
}

/** A value of `--form`, where a quote, a comma or a semicolon would end it. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (mark) => `\\${mark}`)}"`;
}
