import { UsageError } from "../base/errors.ts";
import {
  type Data,
  type Draft,
  type DraftStep,
  filled,
  literalText,
  type Text,
} from "../draft/draft.ts";
import { Names } from "../draft/names.ts";
import type { ImportInput } from "./input.ts";
import { FORM, RequestDraft } from "../draft/request_draft.ts";
import { shellCommands, VARIABLE, withPlainDashes } from "./shell_commands.ts";

/** Options of curl with a value, by their letters. */
const VALUED = byLetter(
  "X=request H=header d=data F=form u=user A=user-agent e=referer b=cookie x=proxy m=max-time " +
    "o=output T=upload-file E=cert c=cookie-jar w=write-out K=config D=dump-header r=range " +
    "U=proxy-user y=speed-time Y=speed-limit z=time-cond C=continue-at",
);

/** Long options with a value that are not translated. */
const VALUED_LONG = new Set(
  ("url connect-timeout retry-max-time ciphers tls-max limit-rate resolve connect-to " +
    "hsts trace trace-ascii stderr cert-type capath proto max-filesize keepalive-time " +
    "expect100-timeout abstract-unix-socket alt-svc create-file-mode crlfile curves delegation " +
    "dns-interface dns-ipv4-addr dns-ipv6-addr dns-servers doh-url ech egd-file engine etag-compare " +
    "etag-save happy-eyeballs-timeout-ms haproxy-clientip ip-tos ipfs-gateway keepalive-cnt " +
    "key-type libcurl local-port login-options netrc-file output-dir parallel-max pinnedpubkey " +
    "preproxy proto-default proto-redir proxy-cacert proxy-capath proxy-cert proxy-cert-type " +
    "proxy-ciphers proxy-header proxy-key proxy-pass proxy1.0 quote random-file rate request-target " +
    "service-name socks4 socks4a telnet-option tls13-ciphers tlsauthtype tlspassword tlsuser " +
    "trace-config variable").split(" "),
);

const SWITCHES = byLetter(
  "G=get I=head k=insecure L=location g=globoff n=netrc 0=http1.0 4=ipv4 6=ipv6",
);

function byLetter(pairs: string): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.split(" ").map((pair) => pair.split("=")));
}

/** Options that do not change the request, or that `http` implies. */
const WITHOUT_MEANING = new Set(
  ("silent show-error verbose include progress-bar no-progress-meter no-buffer compressed " +
    "fail fail-with-body output remote-name write-out dump-header tr-encoding no-keepalive " +
    "http1.1 tcp-nodelay styled-output parallel keepalive-time disable").split(
      " ",
    ),
);
const SHORT_WITHOUT_MEANING = "fsSviNOJZ#q";

/** Options that are a parameter of `http`, and those of its `tls`. */
const PARAMETERS: Readonly<Record<string, string>> = {
  interface: "local_address",
  "unix-socket": "unix_socket",
};
const TLS: Readonly<Record<string, string>> = { cacert: "ca", key: "key", pass: "passphrase" };

const NOTHING = "http has nothing like it";

interface Options {
  readonly urls: string[];
  /** Every option with a value, in order. */
  readonly values: (readonly [name: string, value: string])[];
  readonly switches: ReadonlySet<string>;
}

/** Makes a workflow of one or more curl commands. */
export function translateCurl({ words, files: [file] }: ImportInput): Draft {
  const isOne = words.length > 1 && !words.every((word) => /^\S*curl(?:\.exe)?\s/.test(word));
  const { commands: all, faults } = isOne
    ? { commands: [words.map(withoutPageQuotes)], faults: [] }
    : shellCommands(file ?? { name: "curl", text: words.join("\n") });
  const commands = all.flatMap((command) => {
    const start = command.findIndex((word) => /(?:^|\/)curl(?:\.exe)?$/.test(word));
    return start < 0 ? [] : partsOf(command.slice(start + 1));
  });
  const notes = faults.filter(({ line }) => /\bcurl\b/.test(line))
    .map(({ line, error }) => `${line}: ${error.diagnostics[0]!.message}`);
  if (commands.length === 0) {
    if (faults.length > 0) throw faults[0]!.error;
    throw new UsageError(
      "the command does not begin with curl",
      "runner new --from curl 'curl https://example.com', or the command after --",
    );
  }
  const names = new Names();
  for (const command of all) {
    // Words of a shell, in which only variables of the shell are variables.
    const [, name, value] = command.length > 1
      ? []
      : /^([A-Za-z_]\w*)=([^\ue000]*)$/s.exec(command[0]!) ?? [];
    if (name !== undefined) names.defineTemplate(`env ${name}`, literalText(value!));
  }
  const requests = commands.flatMap((command) => {
    try {
      const options = readOptions(command);
      if (options.urls.length === 0) throw new UsageError("the curl command has no URL");
      return options.urls.map((url) => ({ url, step: stepOf(url, options, names) }));
    } catch (error) {
      if (!(error instanceof UsageError) || commands.length === 1) throw error;
      notes.push(`curl ${command.join(" ")}: ${error.message}`);
      return [];
    }
  });
  if (requests.length === 0) throw new UsageError("no curl command has a URL");
  const { url } = requests[0]!;
  const host = URL.parse(withHttp(url))?.host ?? url.split("/")[0]!;
  const name = host.replace(VARIABLE, "$1");
  const steps = requests.map(({ step }) => step);
  return { name, vars: names.vars, jobs: [{ name, steps }], notes };
}

/** A word without the quotes that a page has put in the place of those of a shell. */
function withoutPageQuotes(word: string): string {
  return withPlainDashes(word.replace(/^[“”„‘’‚](.*)[“”„‘’]$/s, "$1"));
}

/** The commands that --next divides one into. */
function partsOf(words: readonly string[]): readonly (readonly string[])[] {
  const end = words.findIndex((word) => word === "--next" || word === "-:");
  return end < 0 ? [words] : [words.slice(0, end), ...partsOf(words.slice(end + 1))];
}

function readOptions(words: readonly string[]): Options {
  const urls: string[] = [];
  const values: [name: string, value: string][] = [];
  const switches = new Set<string>();
  const rest = [...words];
  const take = (option: string, name: string, value = rest.shift()) => {
    if (value === undefined) throw new UsageError(`the option ${option} of curl has no value`);
    if (name === "url") urls.push(value);
    else if (!WITHOUT_MEANING.has(name)) values.push([name, value]);
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!/^-./.test(word)) urls.push(word);
    else if (word.startsWith("--")) {
      const name = word.slice(2);
      if (hasValue(name)) take(word, name);
      else if (!WITHOUT_MEANING.has(name)) switches.add(name);
    } else {
      // Letters may be joined, and a value may follow its letter.
      const letters = Array.from(word.slice(1));
      const end = letters.findIndex((letter) => VALUED[letter] !== undefined);
      for (const letter of end < 0 ? letters : letters.slice(0, end)) {
        if (!SHORT_WITHOUT_MEANING.includes(letter)) switches.add(SWITCHES[letter] ?? `-${letter}`);
      }
      const letter = letters[end];
      const value = letters.slice(end + 1).join("") || undefined;
      if (letter !== undefined) take(`-${letter}`, VALUED[letter]!, value);
    }
  }
  return { urls, values, switches };
}

function hasValue(name: string): boolean {
  return [OPTIONS, TLS, PARAMETERS].some((known) => Object.hasOwn(known, name)) ||
    VALUED_LONG.has(name) || Object.values(VALUED).includes(name);
}

function withHttp(url: string): string {
  return /^(?:[a-z][a-z\d+.-]*:\/\/|\ue000)/i.test(url) ? url : `http://${url}`;
}

/** The parts of a request that several options make together. */
class CurlRequest extends RequestDraft {
  /** Headers that options make, unless -H gives them. */
  readonly implied: [string, Text | null][] = [];
  readonly tls: Record<string, Data> = {};
  readonly resolve: Record<string, Data> = {};
  readonly retry: Record<string, Data> = {};
  readonly multipart: (readonly [name: Text, value: Data])[] = [];
  readonly files: string[] = [];
  readonly query: string[] = [];
  verb = "";
  /** The content type of the body; null for a file to upload. */
  override type: string | null = FORM;
  data: string | undefined;
  user: string | undefined;

  addData(text: string, separator = "&"): void {
    this.data = this.data === undefined ? text : this.data + separator + text;
  }

  hasHeader(name: string): boolean {
    return this.headers.some(([one]) => one.toLowerCase() === name.toLowerCase());
  }
}

function stepOf(wholeUrl: string, options: Options, names: Names): DraftStep {
  const url = wholeUrl.replace(/#.*/s, "");
  const request = new CurlRequest(
    names,
    (text) => names.template(text, VARIABLE, (name) => names.read(`env ${name}`)),
  );
  for (const [name, value] of options.values) setOption(request, name, value, url);
  for (const name of options.switches) setSwitch(request, name);
  const { params, headers, notes, template, retry, tls, resolve } = request;
  const has = (name: string) => options.switches.has(name);
  if (request.user !== undefined && !["ntlm", "negotiate", "anyauth"].some(has)) {
    const [username = "", password = ""] = request.user.split(/:(.*)/s).map(template);
    const { aws } = (params.auth ?? {}) as Record<string, Record<string, Data>>;
    params.auth = aws
      ? { aws: { ...aws, access_key_id: username, secret_access_key: password } }
      : { [has("digest") ? "digest" : "basic"]: { username, password } };
  }
  headers.push(...request.implied.filter(([name]) => !request.hasHeader(name)));
  if (request.hasHeader("authorization")) delete params.auth;
  Object.assign(params, filled({ tls, resolve }));
  Object.assign(request.keys, filled({ retry }));
  if (!["location", "location-trusted"].some(has)) params.follow_redirects = false;
  if (!has("globoff") && /[{[].*[}\]]/.test(url)) {
    notes.push("the URL: curl takes brackets and braces as a pattern, without --globoff");
  }
  setTarget(request, url, has("get"), has("head"));
  return request.step();
}

/** Sets the body, the method, the URL and the name, which depend on each other. */
function setTarget(request: CurlRequest, url: string, isQuery: boolean, isHead: boolean): void {
  const { notes, template, multipart, query, type, files: [file, ...otherFiles] } = request;
  if (isQuery && request.data !== undefined) query.push(request.data);
  const data = isQuery ? undefined : request.data;
  if (file === "-" || file === ".") notes.push("the body: it comes from standard input");
  if (file !== undefined && (otherFiles.length > 0 || request.data !== undefined)) {
    notes.push(`the body: of a file and other data, only the file ${file} is sent`);
  }
  if (multipart.length > 0) request.body = { multipart };
  else if (file !== undefined) request.body = { file: template(file) };
  else if (data === "") request.body = { body: "" };
  else if (data !== undefined) request.setText(data, request.contentType ?? type ?? undefined);
  const hasBody = data !== undefined || file !== undefined || multipart.length > 0;
  const method = request.verb || (isHead ? "HEAD" : hasBody ? "POST" : "GET");
  const target = type === null && url.endsWith("/") ? url + file!.replace(/^.*\//, "") : url;
  const mark = url.includes("?") ? "&" : "?";
  const whole = withHttp(target) + (query.length === 0 ? "" : mark + query.join("&"));
  const path = URL.parse(whole.replace(/^\ue000\w+\ue000/, "http://host"))?.pathname ?? "";
  const name = `${method.toUpperCase()} ${path}`;
  request.name = name.replace(/(?:%EE%80%80|\ue000)(\w+?)(?:%EE%80%80|\ue000)/g, "$1");
  request.method = template(method);
  request.url = template(whole);
}

function setSwitch({ params, tls, notes }: CurlRequest, name: string): void {
  if (name === "insecure") tls.verify = false;
  else if (name === "netrc") params.auth = { netrc: true };
  else if (name === "http2") params.version = "auto";
  else if (name === "http2-prior-knowledge") params.version = "2";
  else if (/^tlsv1\.[23]$/.test(name)) tls.min_version = name.slice(4);
  else if (name === "ipv4" || name === "ipv6") params.ip = Number(name.slice(3));
  else if (!["get", "head", "location", "digest", "basic", "globoff"].includes(name)) {
    notes.push(`${name.startsWith("-") ? name : `--${name}`}: ${NOTHING}`);
  }
}

/** Translates an option with a value; `url` is that of the request. */
function setOption(request: CurlRequest, name: string, value: string, url: string): void {
  const text = request.template(value);
  if (OPTIONS[name]) OPTIONS[name](request, value, text);
  else if (TLS[name]) request.tls[TLS[name]] = text;
  else if (PARAMETERS[name]) request.params[PARAMETERS[name]] = text;
  else if (name === "resolve" || name === "connect-to") {
    const pair = targetOf(name, value, url);
    if (pair) request.resolve[pair[0]] = pair[1];
    else request.notes.push(`--${name} ${value}: see "resolve" of http`);
  } else {
    request.notes.push(`--${name} ${/pass/.test(name) ? "***" : value}: ${NOTHING}`);
  }
}

/** Sets an option of a request: its value, and that as a template. What it returns is not used. */
type SetOption = (request: CurlRequest, value: string, text: Text) => unknown;

const setSocks: SetOption = ({ params, template }, value) =>
  params.proxy = template(`socks5://${value}`);

function addDataOrFile(request: CurlRequest, value: string): void {
  if (value.startsWith("@")) request.files.push(value.slice(1));
  else request.addData(value);
}

function addLines(request: CurlRequest, value: string): void {
  addDataOrFile(request, value);
  if (value.startsWith("@")) request.notes.push(`-d ${value}: curl leaves out its line breaks`);
}

/** A pair of a form or a query whose value is encoded; undefined if it comes from a file. */
function encodedPair(request: CurlRequest, name: string, value: string): string | undefined {
  if (/^[^=]*@/.test(value)) {
    request.notes.push(`--${name} ${value}: it reads a file`);
    return undefined;
  }
  const [, field = "", rest = value] = /^([^=]*)=(.*)$/s.exec(value) ?? [];
  return (field && `${field}=`) + rest.replace(/[^\ue000]+/g, encodeURIComponent);
}

/** Options with a value, by their long names. */
const OPTIONS: Readonly<Record<string, SetOption>> = {
  request: (request, value) => request.verb = value,
  header({ headers, notes, template }, value) {
    const [, header = "", mark, rest = ""] = /^([^:;]+)([:;])\s*(.*)$/s.exec(value) ?? [];
    if (value.startsWith("@")) notes.push(`headers of the file ${value.slice(1)}`);
    else if (header === "") notes.push(`the header ${JSON.stringify(value)}: it has no name`);
    else headers.push([header, rest === "" && mark === ":" ? null : template(rest)]);
  },
  data: addLines,
  "data-ascii": addLines,
  "data-binary": addDataOrFile,
  "data-raw": (request, value) => request.addData(value),
  json(request, value) {
    if (value.startsWith("@")) request.files.push(value.slice(1));
    else request.addData(value, "");
    if (request.type === FORM) request.implied.push(["Accept", "application/json"]);
    request.type = "application/json";
  },
  "data-urlencode"(request, value) {
    const pair = encodedPair(request, "data-urlencode", value);
    if (pair !== undefined) request.addData(pair);
  },
  "url-query"(request, value) {
    const pair = value.startsWith("+") ? value.slice(1) : encodedPair(request, "url-query", value);
    if (pair !== undefined) request.query.push(pair);
  },
  form({ multipart, template, notes }, value) {
    const [, field = "", rest = ""] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
    multipart.push([template(field), partOf(rest, template, notes)]);
  },
  "form-string"({ multipart, template }, value) {
    const [, field = "", rest = ""] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
    multipart.push([template(field), template(rest)]);
  },
  user: (request, value) => request.user = value,
  "oauth2-bearer": ({ params }, _, text) => params.auth = { bearer: text },
  "user-agent": ({ implied }, value, text) =>
    implied.push(["User-Agent", value === "" ? null : text]),
  referer({ implied, template }, value) {
    if (value !== "") implied.push(["Referer", template(value.replace(/;auto$/, ""))]);
  },
  cookie({ implied, params }, value, text) {
    if (value.includes("=")) implied.push(["Cookie", text]);
    else if (value !== "") params.cookie_file = text;
  },
  proxy: ({ params, template }, value) => params.proxy = template(withHttp(value)),
  socks5: setSocks,
  "socks5-hostname": setSocks,
  noproxy({ params, notes }, value) {
    if (value === "*") params.proxy = "none";
    else notes.push(`--noproxy ${value}: see NO_PROXY`);
  },
  "max-time": ({ params, template }, value) => params.timeout = template(`${value}s`),
  "upload-file"(request, value) {
    request.files.push(value);
    request.type = null;
    request.verb ||= "PUT";
  },
  cert({ tls, template }, value) {
    const [cert = "", passphrase] = value.split(/(?<!^[A-Za-z]):(.*)/s).map(template);
    Object.assign(tls, { cert }, passphrase === undefined ? {} : { passphrase });
  },
  retry({ retry }, value) {
    retry.max_attempts = (Number(value) || 0) + 1;
    retry.interval ??= "1s";
  },
  "retry-delay": ({ retry }, value) => retry.interval = `${value}s`,
  range: ({ implied, template }, value) =>
    implied.push(["Range", template(`bytes=${value}${value.includes("-") ? "" : "-"}`)]),
  "aws-sigv4"({ params, template }, value) {
    const [, , region = "", service = ""] = value.split(":").map(template);
    params.auth = { aws: { region, service } };
  },
  "proxy-user": ({ notes }) => notes.push("--proxy-user: write the user into the URL of the proxy"),
  "max-redirs": ({ params }, value) => params.max_redirects = Number(value),
};

/**
 * The address that replaces that of a URL, in the form of `resolve` of `http`; undefined if the
 * option does not apply to the URL.
 */
function targetOf(
  option: string,
  value: string,
  url: string,
): [from: string, to: string] | undefined {
  const { hostname = "", protocol, port: urlPort } = URL.parse(withHttp(url)) ?? {};
  const usual = urlPort || (protocol === "https:" ? "443" : "80");
  const [, host = "", port, to = "", toPort] =
    /^\+?(\[.*?\]|[^:]*):(\d*):(\[.*?\]|[^:,]*)(?::(\d*))?$/.exec(value) ?? [];
  if (port === undefined || hostname === "" || (toPort === undefined) !== (option === "resolve")) {
    return undefined;
  }
  const [name, number] = [host === "*" ? hostname : host || hostname, port || usual];
  return [`${name}:${number}`, `${to || name}:${toPort || number}`];
}

/** Splits a value of -F at its first semicolon outside of quotes. */
function formWord(text: string): [word: string, rest: string] {
  const [all, quoted, plain = ""] = /^\s*(?:"((?:[^"\\]|\\.)*)"[^;]*|([^;]*));?/s.exec(text)!;
  return [quoted?.replace(/\\(["\\])/g, "$1") ?? plain.trim(), text.slice(all.length)];
}

/** A part of a multipart body with its attributes: `@a.png;type=image/png;filename="b.png"`. */
function partOf(text: string, template: (text: string) => Text, notes: string[]): Data {
  const [, mark = "", content = ""] = /^([@<]?)(.*)$/s.exec(text)!;
  let [word, rest] = formWord(content);
  const part: Record<string, Data> = { [mark === "" ? "value" : "file"]: template(word) };
  let type: string | undefined;
  if (mark === "<") notes.push(`-F …=${text}: the part has the name of the file`);
  if (mark === "@" && /^[^"].*,/.test(content)) notes.push(`-F …=${text}: http sends one file`);
  while (rest !== "") {
    const [, name = "", value = ""] = /^\s*(type|filename|headers|encoder)=(.*)$/s.exec(rest) ?? [];
    [word, rest] = formWord(name === "" ? rest : value);
    if (name === "type") type = word;
    else if (name === "filename") part.filename = template(word);
    else if (name === "" && type !== undefined) type += `; ${word}`;
    else notes.push(`-F …;${name === "" ? "" : `${name}=`}${word}: ${NOTHING}`);
  }
  if (type !== undefined) part.type = template(type);
  return mark === "" && Object.keys(part).length === 1 ? part.value! : part;
}
