import { literalText } from "../openapi/make/literal.ts";
import type { Dict, Value } from "../value/value.ts";
import { UsageError } from "../source/errors.ts";
import type { Draft, ImportInput } from "./draft.ts";
import { bodyOf, httpStep } from "./http_step.ts";
import { Names } from "./import_names.ts";
import { shellCommands, VARIABLE } from "./shell_words.ts";

/** Options of curl with a value, by their letters. */
const VALUED: Readonly<Record<string, string>> = {
  X: "request",
  H: "header",
  d: "data",
  F: "form",
  u: "user",
  A: "user-agent",
  e: "referer",
  b: "cookie",
  x: "proxy",
  m: "max-time",
  o: "output",
  T: "upload-file",
  E: "cert",
  c: "cookie-jar",
  w: "write-out",
  K: "config",
  D: "dump-header",
  r: "range",
  U: "proxy-user",
  y: "speed-time",
  Y: "speed-limit",
  z: "time-cond",
  C: "continue-at",
};

/** Options with only a long name. */
const VALUED_LONG = new Set(
  ("data-raw data-binary data-ascii data-urlencode json form-string url url-query cacert key pass " +
    "resolve connect-to unix-socket interface max-redirs connect-timeout oauth2-bearer retry " +
    "retry-delay retry-max-time proxy-user noproxy ciphers tls-max limit-rate aws-sigv4 " +
    "hsts cookie-jar trace trace-ascii stderr cert-type capath proto max-filesize keepalive-time " +
    "expect100-timeout abstract-unix-socket alt-svc create-file-mode crlfile curves delegation " +
    "dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url ech egd-file engine etag-compare " +
    "etag-save happy-eyeballs-timeout-ms haproxy-clientip ip-tos ipfs-gateway keepalive-cnt " +
    "key-type libcurl local-port login-options netrc-file output-dir parallel-max pinnedpubkey " +
    "preproxy proto-default proto-redir proxy-cacert proxy-capath proxy-cert proxy-cert-type " +
    "proxy-ciphers proxy-header proxy-key proxy-pass proxy1.0 quote random-file rate request-target " +
    "service-name socks4 socks4a socks5 socks5-hostname telnet-option tls13-ciphers tlsauthtype " +
    "tlspassword tlsuser trace-config variable").split(" "),
);

const SWITCHES: Readonly<Record<string, string>> = {
  G: "get",
  I: "head",
  k: "insecure",
  L: "location",
  f: "fail",
  n: "netrc",
  0: "http1.0",
  4: "ipv4",
  6: "ipv6",
};

/** Options that change nothing in what is sent, or what `http` does anyway. */
const WITHOUT_MEANING = new Set(
  ("silent show-error verbose include progress-bar no-progress-meter no-buffer compressed globoff " +
    "path-as-is fail fail-with-body output remote-name write-out dump-header tr-encoding no-keepalive " +
    "http1.1 location-trusted tcp-nodelay styled-output parallel keepalive-time disable").split(
      " ",
    ),
);
const SHORT_WITHOUT_MEANING = "sSviNgOJZ#q";

interface Options {
  readonly urls: string[];
  /** Every option with a value, in order. */
  readonly given: (readonly [name: string, value: string])[];
  readonly switches: Set<string>;
  readonly notes: string[];
}

/** Makes a workflow of one or more curl commands. */
export function translateCurl({ words, files: [file] }: ImportInput): Draft {
  const all = words.length > 1
    ? [[...words]]
    : shellCommands(file ?? { name: "curl", text: words[0] ?? "" });
  const commands = all.flatMap((command) => {
    const start = command.findIndex((word) => /(?:^|\/)curl(?:\.exe)?$/.test(word));
    return start < 0 ? [] : [command.slice(start + 1)];
  });
  if (commands.length === 0) {
    throw new UsageError(
      "the command does not begin with curl",
      "runner new --from curl 'curl https://example.com', or the command after --",
    );
  }
  const names = new Names();
  const requests = commands.flatMap((command) => {
    const options = readOptions(command);
    const { urls, notes } = options;
    if (urls.length === 0) throw new UsageError("the curl command has no URL");
    return urls.map((url, index) => ({
      url,
      step: requestOf(url, options, index === 0 ? notes : [], names),
    }));
  });
  const { url } = requests[0]!;
  const host = URL.parse(withScheme(url))?.host ?? url.split("/")[0]!;
  const name = host.replace(VARIABLE, "$1");
  const steps = requests.map(({ step }) => step);
  return { name, vars: names.vars, jobs: [{ name, steps }], notes: [] };
}

function readOptions(words: readonly string[]): Options {
  const options: Options = { urls: [], given: [], switches: new Set(), notes: [] };
  const rest = [...words];
  const take = (name: string): string => {
    const value = rest.shift();
    if (value === undefined) throw new UsageError(`the option ${name} of curl has no value`);
    return value;
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (/^--./.test(word)) readLong(word.slice(2), take, options);
    else if (/^-./.test(word)) readShort(word.slice(1), take, options);
    else options.urls.push(word);
  }
  return options;
}

function readLong(name: string, take: (name: string) => string, options: Options): void {
  const isValued = VALUED_LONG.has(name) || Object.values(VALUED).includes(name);
  const value = isValued ? take(`--${name}`) : undefined;
  if (name === "next") {
    throw new UsageError("--next of curl is not supported", "translate each command by itself");
  }
  if (name === "url") options.urls.push(value!);
  else if (WITHOUT_MEANING.has(name)) return;
  else if (value !== undefined) options.given.push([name, value]);
  else options.switches.add(name);
}

/** Letters may follow each other, and a value its letter. */
function readShort(letters: string, take: (name: string) => string, options: Options): void {
  for (const [index, letter] of Array.from(letters).entries()) {
    const name = VALUED[letter];
    if (name !== undefined) {
      const value = letters.slice(index + 1) || take(`-${letter}`);
      if (!WITHOUT_MEANING.has(name)) options.given.push([name, value]);
      return;
    }
    if (SHORT_WITHOUT_MEANING.includes(letter)) continue;
    options.switches.add(SWITCHES[letter] ?? `-${letter}`);
  }
}

function withScheme(url: string): string {
  return /^(?:[a-z][a-z\d+.-]*:\/\/|\ue000)/i.test(url) ? url : `http://${url}`;
}

function requestOf(given: string, options: Options, already: readonly string[], names: Names) {
  const template = (text: string) => names.template(text, VARIABLE);
  const notes = [...already];
  const headers: [string, string | null][] = [];
  const more: Record<string, Value> = {};
  const tls: Record<string, Value> = {};
  const multipart: (readonly [name: string, value: Value])[] = [];
  const keys: Record<string, Value> = {};
  const data: string[] = [];
  let method: string | undefined;
  const files: string[] = [];
  let type: string | undefined;
  let user: string | undefined;
  const query: string[] = [];
  for (const [name, value] of options.given) {
    const text = template(value);
    switch (name) {
      case "request":
        method = value;
        break;
      case "header": {
        const [, header = "", mark, rest = ""] = /^([^:;]+)([:;])\s*(.*)$/s.exec(value) ?? [];
        if (value.startsWith("@")) notes.push(`headers of the file ${value.slice(1)}`);
        else if (header === "") notes.push(`the header ${JSON.stringify(value)}: it has no name`);
        else headers.push([header, rest === "" && mark === ":" ? null : template(rest)]);
        if (/^content-type$/i.test(header)) type = rest;
        break;
      }
      case "data":
      case "data-ascii":
      case "data-binary":
        if (value.startsWith("@")) files.push(value.slice(1));
        else data.push(value);
        break;
      case "data-raw":
        data.push(value);
        break;
      case "json":
        if (value.startsWith("@")) files.push(value.slice(1));
        else data.push(value);
        type ??= "application/json";
        headers.push(["Content-Type", "application/json"], ["Accept", "application/json"]);
        break;
      case "data-urlencode": {
        const [, field = "", rest = ""] = /^([^=@]*)=(.*)$/s.exec(value) ?? [, "", value];
        const encoded = rest.replace(/[^\ue000]+/g, encodeURIComponent);
        if (/^[^=]*@/.test(value)) notes.push(`--data-urlencode ${value}: it reads a file`);
        else data.push(field === "" ? encoded : `${field}=${encoded}`);
        break;
      }
      case "url-query":
        query.push(value);
        break;
      case "form":
      case "form-string": {
        const [, field = "", rest = ""] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
        const [content = "", ...attributes] = rest.split(";");
        if (name === "form-string") multipart.push([field, template(rest)]);
        else if (/^[@<]/.test(rest)) {
          const file = { file: template(content.slice(1)) };
          multipart.push([field, partOf(file, attributes, notes)]);
          if (rest.startsWith("<")) notes.push(`-F ${value}: the part has the name of the file`);
        } else {
          const part = partOf({ value: template(content) }, attributes, notes);
          multipart.push([field, Object.keys(part).length === 1 ? part.value! : part]);
        }
        break;
      }
      case "user":
        user = value;
        break;
      case "oauth2-bearer":
        more.auth = { bearer: text };
        break;
      case "user-agent":
        headers.push(["User-Agent", text]);
        break;
      case "referer":
        headers.push(["Referer", text]);
        break;
      case "cookie":
        if (value.includes("=")) headers.push(["Cookie", text]);
        else more.cookie_file = text;
        break;
      case "proxy":
        more.proxy = template(withScheme(value));
        break;
      case "max-time":
        more.timeout = template(`${value}s`);
        break;
      case "upload-file":
        files.push(value);
        method ??= "PUT";
        break;
      case "cacert":
        tls.ca = text;
        break;
      case "cert":
        tls.cert = text;
        break;
      case "key":
        tls.key = text;
        break;
      case "pass":
        tls.passphrase = text;
        break;
      case "unix-socket":
        more.unix_socket = text;
        break;
      case "retry":
        keys.retry = { max_attempts: (Number(value) || 0) + 1, interval: "1s" };
        break;
      case "range":
        headers.push(["Range", `bytes=${text}`]);
        break;
      case "proxy-user":
        notes.push(`--${name}: write the user into the URL of the proxy`);
        break;
      case "max-redirs":
        more.max_redirects = Number(value);
        break;
      default:
        notes.push(`--${name} ${value}: http has nothing like it`);
    }
  }
  for (const name of options.switches) {
    if (name === "insecure") tls.verify = false;
    else if (name === "netrc") more.auth = { netrc: true };
    else if (name === "http2") more.version = "2";
    else if (name === "ipv4" || name === "ipv6") more.ip = Number(name.slice(3));
    else if (!["get", "head", "location", "digest", "basic"].includes(name)) {
      notes.push(`${name.startsWith("-") ? name : `--${name}`}: http has nothing like it`);
    }
  }
  if (user !== undefined) {
    const [username = "", password = ""] = user.split(/:(.*)/s);
    const kind = options.switches.has("digest") ? "digest" : "basic";
    more.auth = { [kind]: { username: template(username), password: template(password) } };
  }
  if (Object.keys(tls).length > 0) more.tls = tls;
  if (!options.switches.has("location")) more.follow_redirects = false;
  const isQuery = options.switches.has("get");
  const [file, ...others] = files;
  const hasBody = data.length > 0 || file !== undefined || multipart.length > 0;
  if (file === "-" || file === ".") notes.push("the body: it comes from standard input");
  if (file !== undefined && (others.length > 0 || data.length > 0)) {
    notes.push(`the body: of a file and other data, only the file ${file} is sent`);
  }
  method ??= options.switches.has("head") ? "HEAD" : hasBody && !isQuery ? "POST" : "GET";
  const pairs = [...query, ...isQuery ? data : []].join("&");
  const url = withScheme(given) +
    (pairs === "" ? "" : `${given.includes("?") ? "&" : "?"}${pairs}`);
  const form = "application/x-www-form-urlencoded";
  const body: Dict = multipart.length > 0
    ? { multipart }
    : file !== undefined
    ? { file: template(file) }
    : data.length === 0 || isQuery
    ? {}
    : bodyOf(data.join("&"), type ?? form, template);
  if ((data.length > 0 && !isQuery && type === undefined) && body.form === undefined) {
    headers.push(["Content-Type", form]);
  }
  const path = URL.parse(url.replace(/^\ue000\w+\ue000/, "http://host"))?.pathname ?? "";
  const name = `${method.toUpperCase()} ${path}`;
  return httpStep({
    name: literalText(name.replace(/(?:%EE%80%80|\ue000)(\w+?)(?:%EE%80%80|\ue000)/g, "$1")),
    method,
    url: template(url),
    headers,
    body,
    more,
    keys,
    notes,
  });
}

/** A part of a multipart body with its attributes: `;type=image/png;filename=a.png`. */
function partOf(content: Dict, attributes: readonly string[], notes: string[]): Dict {
  const part: Record<string, Value> = { ...content };
  for (const attribute of attributes) {
    const [, name = "", value = ""] = /^\s*(\w+)=(.*)$/s.exec(attribute) ?? [];
    if (name === "type" || name === "filename") part[name] = value.replace(/^"(.*)"$/, "$1");
    else notes.push(`-F …;${attribute}: http has nothing like it`);
  }
  return part;
}
