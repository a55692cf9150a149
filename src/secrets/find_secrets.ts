import { decodedText } from "./decodings.ts";
import { tryParseJson } from "../base/value/parse_json.ts";
import {
  canBeSecret,
  cookieSecrets,
  credentialsIn,
  decodePercents,
  dsnPasswords,
  isSecretField,
  isSecretHeader,
  isSecretName,
  mayHoldSecretNames,
  pairsIn,
  passwordsIn,
  SHORTEST_ISSUED,
  SHORTEST_SECRET,
} from "./secrets.ts";
import { type Dict, isNumber, type Value } from "../base/value/value.ts";
import { Masker } from "./masker.ts";

/** Receives a secret that was found; one shorter than `shortest` is not masked. */
type AddSecret = (text: string, shortest: number) => void;

const SCHEMA_TYPE = /^(?:string|integer|number|boolean|object|array|null)$/;

/** A text in a map of several keys, which is hardly a word or a sentence. */
const MIXED = /^(?=.*(?:\d|[^\w.:/-]|[a-z][A-Z]))\S+$/;

/**
 * Finds the secrets among variables: the values of secret names, with what lies in maps and lists
 * of such names, and the passwords of URLs and of other texts that name a database. In a map there
 * may be other things, such as the schema of a password: its words are in texts everywhere.
 */
export function findVariableSecrets(
  values: Readonly<Record<string, unknown>>,
  add: AddSecret,
  shortest = SHORTEST_SECRET,
): void {
  // A value from an expression may contain the same object many times.
  const seen = new Set<object>();
  const seenAsSecret = new Set<object>();
  const walk = (value: unknown, secretName: string | undefined, isAlone = true) => {
    if (typeof value === "string" || isNumber(value)) {
      const isOne = isAlone || typeof value === "string" && MIXED.test(value);
      if (isOne && secretName !== undefined && canBeSecret(secretName, value)) {
        add(String(value), shortest);
      }
      if (typeof value === "string") {
        for (const password of dsnPasswords(value)) add(password, SHORTEST_SECRET);
        addFields(value, add);
      }
    } else if (typeof value === "object" && value !== null) {
      const done = secretName === undefined ? seen : seenAsSecret;
      if (done.has(value)) return;
      done.add(value);
      if (Array.isArray(value)) {
        for (const item of value) walk(item, secretName, isAlone);
        return;
      }
      const fields = Object.entries(value);
      const isSchema = fields.some(([name, field]) => name === "type" && SCHEMA_TYPE.test(field));
      for (const [name, field] of fields) {
        if (isSecretName(name) && !isSchema) walk(field, name);
        else if (isSchema || name === "value") walk(field, isSchema ? undefined : secretName);
        else {
          const isAbout = secretName !== undefined && !isSecretName(`${secretName}_${name}`);
          walk(field, isAbout ? undefined : secretName, isAlone && fields.length === 1);
        }
      }
    }
  };
  walk(values, undefined);
}

/** A field of a message, which may repeat the data of another field as text. */
interface MessageField {
  readonly name: string;
  readonly repeats?: string;
}

/**
 * Finds the secrets in what an action was given, sent or received: the values of secret headers, of
 * fields with secret names in data and in texts that hold data, and of cookies.
 */
export function findExchangedSecrets(
  data: Readonly<Record<string, unknown>>,
  add: AddSecret,
  fields?: readonly MessageField[],
): void {
  const repeating = fields && repeatingIn(fields);
  const seen = new Set<object>();
  for (const name of Object.keys(data)) {
    const repeated = repeating?.get(name);
    if (repeated !== undefined && typeof data[repeated] === "object") continue;
    walkMessage(data[name], name, isHeaders(name), add, seen);
  }
}

/** Of each table of fields, those that repeat another, and which. */
const repeatingFields = new WeakMap<readonly MessageField[], ReadonlyMap<string, string>>();

function repeatingIn(fields: readonly MessageField[]): ReadonlyMap<string, string> {
  return repeatingFields.getOrInsertComputed(
    fields,
    () =>
      new Map(
        fields.flatMap(({ name, repeats }) => repeats === undefined ? [] : [[name, repeats]]),
      ),
  );
}

function walkMessage(
  value: unknown,
  name: string,
  inHeaders: boolean,
  add: AddSecret,
  seen: Set<object>,
): void {
  if (typeof value === "string" || isNumber(value)) {
    addValue(name, value, inHeaders, add);
  } else if (typeof value === "object" && value !== null && !seen.has(value)) {
    seen.add(value);
    if (Array.isArray(value)) {
      for (const item of value) walkMessage(item, name, inHeaders, add, seen);
      return;
    }
    for (const key of Object.keys(value)) {
      const field = (value as Record<string, unknown>)[key];
      // `token: { value: … }`
      const nameOfField = key === "value" ? name : key;
      walkMessage(field, nameOfField, inHeaders || isHeaders(key), add, seen);
    }
  }
}

function isHeaders(name: string): boolean {
  return name.length === "headers".length && name.toLowerCase() === "headers";
}

function addValue(
  name: string,
  value: string | number | bigint,
  inHeaders: boolean,
  add: AddSecret,
): void {
  const isSecret = inHeaders ? isSecretHeader(name) : isSecretField(name);
  if (!isSecret) {
    if (typeof value === "string") addFields(value, add);
    return;
  }
  const text = String(value);
  if (/cookies?$/i.test(name)) {
    for (const cookie of cookieSecrets(text)) add(cookie, SHORTEST_SECRET);
  } else if (canBeSecret(name, value)) {
    const shortest = inHeaders ? SHORTEST_SECRET : SHORTEST_ISSUED;
    const texts = /authorization$/i.test(name) ? credentialsIn(text) : [text];
    for (const text of texts) add(text, shortest);
  }
}

/**
 * Fields in JSON, in queries, forms and options, in the parts of a multipart body, in XML, and in
 * YAML, where a value without quotes is one word or a block of lines.
 */
const JSON_FIELD = /"([^"\\]{1,100})"\s*:\s*"((?:[^"\\]|\\.)*)"/g;
const QUERY_FIELD = /(?<![^?&;#\s])([\w.%[\]-]{1,100})=(?!\$[\w({])([^&\s#;"'<>]+)/g;
const MULTIPART_FIELD =
  /;\s*name="([^"]{1,100})"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n([^]*?)\r?\n--/g;

const XML_FIELD = /<([\w:.-]{1,100})(?:\s[^<>]*)?>([^<>]+)<\/\1>/g;
const XML_ATTRIBUTE = /(?<![\w:.-])([\w:.-]{1,100})\s{0,9}=\s{0,9}(?:"([^"<]+)"|'([^'<]+)')/g;
const YAML_VALUE = [
  /"((?:[^"\\]|\\.)*)"/,
  /'([^']*)'/,
  /[|>][-+\d]*((?:\r?\n[ \t]+.*)+)/,
  /(?!\$[\w({])([^\s"'#&*|>{[]\S*)(?=[,}][ \t]|[ \t]*(?:#.*|\r)?$)/,
].map(({ source }) => source).join("|");
const YAML_FIELD = new RegExp(
  `(?:^|[{,])[ \\t]*(?:- +)*'?([\\w.-]{1,100})'?:[ \\t]+(?:${YAML_VALUE})`,
  "gm",
);

const FIELDS: readonly [pattern: RegExp, decode: (written: string) => string][] = [
  [JSON_FIELD, fromJson],
  [QUERY_FIELD, (written) => decodePercents(written.replaceAll("+", " "))],
  [MULTIPART_FIELD, (written) => written],
  [XML_FIELD, (written) => decodedText(written.trim())],
  [XML_ATTRIBUTE, decodedText],
  [YAML_FIELD, fromYaml],
];

/** Adds the values of fields in a text that may hold data. */
function addFields(text: string, add: AddSecret): void {
  if (text.length < SHORTEST_ISSUED) return;
  for (const password of passwordsIn(text)) add(password, SHORTEST_SECRET);
  if (!mayHoldSecretNames(text)) return;
  for (const [pattern, decode] of FIELDS) {
    for (const [, name = "", ...values] of text.matchAll(pattern)) {
      const value = values.find((one) => one !== undefined) ?? "";
      if (!isSecretField(decodePercents(name)) || !canBeSecret(name, value)) continue;
      add(value, SHORTEST_ISSUED);
      add(decode(value), SHORTEST_ISSUED);
    }
  }
}

function fromJson(written: string): string {
  return tryParseJson(`"${written}"`) as string | undefined ?? written;
}

/** A value without its indentation, and without what ends a map or a list in one line. */
function fromYaml(written: string): string {
  return fromJson(written).trim().replace(/\n[ \t]+/g, "\n").replace(/[,}\]]+$/, "");
}

/** Knows what has a secret name in any of these. */
export function makeMasker(sources: readonly Readonly<Record<string, unknown>>[]): Masker {
  const masker = new Masker();
  for (const values of sources) {
    addSecretsOf(values, masker);
    for (const name of OTLP_HEADERS) {
      for (const [, value] of pairsIn(String(values[name] ?? ""))) {
        for (const text of credentialsIn(value)) masker.add(text, SHORTEST_SECRET);
      }
    }
  }
  return masker;
}

/** Variables that hold headers for a collector of OpenTelemetry, of which each may be a secret. */
const OTLP_HEADERS = ["", "TRACES_", "METRICS_"].map((of) => `OTEL_EXPORTER_OTLP_${of}HEADERS`);

/** Adds the secrets among variables: see `findVariableSecrets`. */
export function addSecretsOf(values: Readonly<Record<string, unknown>>, masker: Masker): void {
  findVariableSecrets(values, (text, shortest) => masker.add(text, shortest));
}

/** Adds the secrets among outputs of a step. */
export function addOutputSecrets(values: Dict, masker: Masker): void {
  findVariableSecrets(values, (text, shortest) => masker.add(text, shortest), SHORTEST_ISSUED);
}

/** Adds the secrets in a message. An action may know its fields. */
export type AddExchangedSecrets = (data: Dict, fields?: readonly MessageField[]) => void;

/** Adds the secrets in what actions were sources, sent or received: see `findExchangedSecrets`. */
export function exchangedSecretsAdder(masker: Masker): AddExchangedSecrets {
  // A request without templates is the same in every round; what is received never is.
  const seen = new WeakSet<Dict>();
  return (data, fields) => {
    if (!fields) {
      if (seen.has(data)) return;
      seen.add(data);
    }
    findExchangedSecrets(data, (text, shortest) => masker.add(text, shortest), fields);
  };
}

/** An explicit secret may be as short as a PIN. */
const SHORTEST_SAID = 4;

/** Adds a value that an expression declares secret, with everything inside it. */
export function addSecretValue(value: Value, masker: Masker): void {
  const seen = new Set<object>();
  const add = (value: Value) => {
    if (typeof value === "string" || isNumber(value)) {
      masker.add(String(value), SHORTEST_SAID);
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const part of Object.values(value)) add(part);
    }
  };
  add(value);
}

/** The secrets in a value that a masker knows, with everything inside it. */
export function* secretsIn(value: Value, masker: Masker): Iterable<string> {
  if (typeof value === "string" || isNumber(value)) {
    const text = String(value);
    for (const { start, end } of masker.find(text)) yield text.slice(start, end);
  } else if (typeof value === "object" && value !== null) {
    for (const part of Object.values(value)) yield* secretsIn(part, masker);
  }
}
