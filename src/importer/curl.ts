import { literalText } from "../openapi/gen/templates.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import { UsageError } from "../base/errors.ts";
import type { Draft } from "../openapi/gen/draft.ts";
import type { ImportInput } from "./draft.ts";
import { bodyOf, FORM, httpStep } from "./http_step.ts";
import { Names } from "./import_names.ts";
import { shellCommands, VARIABLE } from "./shell_words.ts";

/** Options of curl with a value, by their letters. */
const VALUED = byLetter(
  "X=request H=header d=data F=form u=user A=user-agent e=referer b=cookie x=proxy m=max-time " +
    "o=output T=upload-file E=cert c=cookie-jar w=write-out K=config D=dump-header r=range " +
    "U=proxy-user y=speed-time Y=speed-limit z=time-cond C=continue-at",
);

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

const SWITCHES = byLetter(
  "G=get I=head k=insecure L=location g=globoff n=netrc 0=http1.0 4=ipv4 6=ipv6",
);

function byLetter(pairs: string): Readonly<Record<string, string>> {
  return Object.fromEntries(pairs.split(" ").map((pair) => pair.split("=")));
}

/** Options that change nothing in what is sent, or what `http` does anyway. */
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
  readonly given: (readonly [name: string, value: string])[];
  readonly switches: ReadonlySet<string>;
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
    if (options.urls.length === 0) throw new UsageError("the curl command has no URL");
    return options.urls.map((url) => ({ url, step: requestOf(url, options, names) }));
  });
  const { url } = requests[0]!;
  const host = URL.parse(withScheme(url))?.host ?? url.split("/")[0]!;
  const name = host.replace(VARIABLE, "$1");
  const steps = requests.map(({ step }) => step);
  return { name, vars: names.vars, jobs: [{ name, steps }], notes: [] };
}

function readOptions(words: readonly string[]): Options {
  const urls: string[] = [];
  const given: [name: string, value: string][] = [];
  const switches = new Set<string>();
  const rest = [...words];
  const take = (option: string, name: string, value = rest.shift()) => {
    if (value === undefined) throw new UsageError(`the option ${option} of curl has no value`);
    if (name === "url") urls.push(value);
    else if (!WITHOUT_MEANING.has(name)) given.push([name, value]);
  };
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (!/^-./.test(word)) urls.push(word);
    else if (word.startsWith("--")) {
      const name = word.slice(2);
      if (name === "next") {
        throw new UsageError("--next of curl is not supported", "translate each command by itself");
      }
      if (VALUED_LONG.has(name) || Object.values(VALUED).includes(name)) take(word, name);
      else if (!WITHOUT_MEANING.has(name)) switches.add(name);
    } else {
      // Letters may follow each other, and a value its letter.
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
  return { urls, given, switches };
}

function withScheme(url: string): string {
  return /^(?:[a-z][a-z\d+.-]*:\/\/|\ue000)/i.test(url) ? url : `http://${url}`;
}

function requestOf(whole: string, options: Options, names: Names) {
  const given = whole.replace(/#.*/s, "");
  const template = (text: string) => names.template(text, VARIABLE);
  const has = (name: string) => options.switches.has(name);
  const notes: string[] = [];
  const headers: [string, string | null][] = [];
  /** Headers that options make, unless -H gives them. */
  const implied: [string, string | null][] = [];
  const more: Record<string, Value> = {};
  const tls: Record<string, Value> = {};
  const resolve: Record<string, Value> = {};
  const multipart: (readonly [name: string, value: Value])[] = [];
  const retry: Record<string, Value> = {};
  let data: string | undefined;
  let method: string | undefined;
  const files: string[] = [];
  /** The content type of the body, which a file to upload has not. */
  let type: string | null = FORM;
  let user: string | undefined;
  const query: string[] = [];
  const add = (text: string, separator = "&") =>
    data = data === undefined ? text : data + separator + text;
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
        break;
      }
      case "data":
      case "data-ascii":
      case "data-binary":
        if (!value.startsWith("@")) add(value);
        else {
          files.push(value.slice(1));
          if (name !== "data-binary") notes.push(`-d ${value}: curl leaves out its line breaks`);
        }
        break;
      case "data-raw":
        add(value);
        break;
      case "json":
        if (value.startsWith("@")) files.push(value.slice(1));
        else add(value, "");
        if (type === FORM) implied.push(["Accept", "application/json"]);
        type = "application/json";
        break;
      case "data-urlencode":
      case "url-query": {
        if (name === "url-query" && value.startsWith("+")) query.push(value.slice(1));
        else if (/^[^=]*@/.test(value)) notes.push(`--${name} ${value}: it reads a file`);
        else {
          const [, field = "", rest = value] = /^([^=]*)=(.*)$/s.exec(value) ?? [];
          const pair = (field && `${field}=`) + rest.replace(/[^\ue000]+/g, encodeURIComponent);
          if (name === "url-query") query.push(pair);
          else add(pair);
        }
        break;
      }
      case "form":
      case "form-string": {
        const [, field = "", rest = ""] = /^([^=]+)=(.*)$/s.exec(value) ?? [];
        const isText = name === "form-string";
        multipart.push([field, isText ? template(rest) : partOf(rest, template, notes)]);
        break;
      }
      case "user":
        user = value;
        break;
      case "oauth2-bearer":
        more.auth = { bearer: text };
        break;
      case "user-agent":
        implied.push(["User-Agent", text || null]);
        break;
      case "referer":
        if (text !== "") implied.push(["Referer", text.replace(/;auto$/, "")]);
        break;
      case "cookie":
        if (value.includes("=")) implied.push(["Cookie", text]);
        else if (text !== "") more.cookie_file = text;
        break;
      case "proxy":
        more.proxy = template(withScheme(value));
        break;
      case "socks5":
      case "socks5-hostname":
        more.proxy = `socks5://${text}`;
        break;
      case "noproxy":
        if (value === "*") more.proxy = "none";
        else notes.push(`--noproxy ${value}: see NO_PROXY`);
        break;
      case "resolve":
      case "connect-to": {
        const pair = targetOf(name, value, given);
        if (pair) resolve[pair[0]] = pair[1];
        else notes.push(`--${name} ${value}: see "resolve" of http`);
        break;
      }
      case "max-time":
        more.timeout = `${text}s`;
        break;
      case "upload-file":
        files.push(value);
        type = null;
        method ??= "PUT";
        break;
      case "cert": {
        const [cert = "", passphrase] = text.split(/(?<!^[A-Za-z]):(.*)/s);
        tls.cert = cert;
        if (passphrase !== undefined) tls.passphrase = passphrase;
        break;
      }
      case "retry":
        retry.max_attempts = (Number(value) || 0) + 1;
        retry.interval ??= "1s";
        break;
      case "retry-delay":
        retry.interval = `${value}s`;
        break;
      case "range":
        implied.push(["Range", `bytes=${text}${value.includes("-") ? "" : "-"}`]);
        break;
      case "aws-sigv4": {
        const [, , region = "", service = ""] = text.split(":");
        more.auth = { aws: { region, service } };
        break;
      }
      case "proxy-user":
        notes.push(`--${name}: write the user into the URL of the proxy`);
        break;
      case "max-redirs":
        more.max_redirects = Number(value);
        break;
      default:
        if (TLS[name]) tls[TLS[name]] = text;
        else if (PARAMETERS[name]) more[PARAMETERS[name]] = text;
        else notes.push(`--${name} ${/pass/.test(name) ? "***" : value}: ${NOTHING}`);
    }
  }
  for (const name of options.switches) {
    if (name === "insecure") tls.verify = false;
    else if (name === "netrc") more.auth = { netrc: true };
    else if (name === "http2") more.version = "auto";
    else if (name === "http2-prior-knowledge") more.version = "2";
    else if (/^tlsv1\.[23]$/.test(name)) tls.min_version = name.slice(4);
    else if (name === "ipv4" || name === "ipv6") more.ip = Number(name.slice(3));
    else if (!["get", "head", "location", "digest", "basic", "globoff"].includes(name)) {
      notes.push(`${name.startsWith("-") ? name : `--${name}`}: ${NOTHING}`);
    }
  }
  if (
    user !== undefined && !["ntlm", "negotiate", "anyauth"].some(has)
  ) {
    const [username = "", password = ""] = user.split(/:(.*)/s).map(template);
    const { aws } = (more.auth ?? {}) as Dict;
    more.auth = isDict(aws)
      ? { aws: { ...aws, access_key_id: username, secret_access_key: password } }
      : { [has("digest") ? "digest" : "basic"]: { username, password } };
  }
  const gives = (name: string) => headers.some(([one]) => one.toLowerCase() === name.toLowerCase());
  headers.push(...implied.filter(([name]) => !gives(name)));
  if (gives("authorization")) delete more.auth;
  if (Object.keys(tls).length > 0) more.tls = tls;
  if (Object.keys(resolve).length > 0) more.resolve = resolve;
  if (!["location", "location-trusted"].some(has)) more.follow_redirects = false;
  if (!has("globoff") && /[{[].*[}\]]/.test(given)) {
    notes.push("the URL: curl takes brackets and braces as a pattern, without --globoff");
  }
  const isQuery = has("get");
  if (isQuery && data !== undefined) query.push(data);
  const [file, ...others] = files;
  const hasBody = !isQuery && data !== undefined || file !== undefined || multipart.length > 0;
  if (file === "-" || file === ".") notes.push("the body: it comes from standard input");
  if (file !== undefined && (others.length > 0 || data !== undefined)) {
    notes.push(`the body: of a file and other data, only the file ${file} is sent`);
  }
  method ??= has("head") ? "HEAD" : hasBody ? "POST" : "GET";
  const target = type === null && given.endsWith("/") ? given + file!.replace(/^.*\//, "") : given;
  const pairs = query.join("&");
  const url = withScheme(target) +
    (pairs === "" ? "" : `${given.includes("?") ? "&" : "?"}${pairs}`);
  const media = headers.find(([name]) => /^content-type$/i.test(name))?.[1] ?? type ?? undefined;
  const body: Dict = multipart.length > 0
    ? { multipart }
    : file !== undefined
    ? { file: template(file) }
    : isQuery || data === undefined
    ? {}
    : data === ""
    ? { body: "" }
    : bodyOf(data, media, template);
  const path = URL.parse(url.replace(/^\ue000\w+\ue000/, "http://host"))?.pathname ?? "";
  const name = `${method.toUpperCase()} ${path}`;
  return httpStep({
    name: literalText(name.replace(/(?:%EE%80%80|\ue000)(\w+?)(?:%EE%80%80|\ue000)/g, "$1")),
    method: template(method),
    url: template(url),
    headers,
    body,
    type,
    more,
    keys: Object.keys(retry).length === 0 ? {} : { retry },
    notes,
  });
}

/**
 * The address to connect to in place of that of a URL, in the form of the `resolve` of `http`;
 * undefined if the option does not determine one.
 */
function targetOf(
  option: string,
  value: string,
  url: string,
): [from: string, to: string] | undefined {
  const { hostname = "", protocol, port: own } = URL.parse(withScheme(url)) ?? {};
  const usual = own || (protocol === "https:" ? "443" : "80");
  const [, host = "", port, to = "", toPort] =
    /^\+?(\[.*?\]|[^:]*):(\d*):(\[.*?\]|[^:,]*)(?::(\d*))?$/.exec(value) ?? [];
  if (port === undefined || hostname === "" || (toPort === undefined) !== (option === "resolve")) {
    return undefined;
  }
  const [name, number] = [host === "*" ? hostname : host || hostname, port || usual];
  return [`${name}:${number}`, `${to || name}:${toPort || number}`];
}

/** A value of -F up to a semicolon, which quotes may enclose, and what follows it. */
function formWord(text: string): [word: string, rest: string] {
  const [all, quoted, plain = ""] = /^\s*(?:"((?:[^"\\]|\\.)*)"[^;]*|([^;]*));?/s.exec(text)!;
  return [quoted?.replace(/\\(["\\])/g, "$1") ?? plain.trim(), text.slice(all.length)];
}

/** A part of a multipart body with its attributes: `@a.png;type=image/png;filename="b.png"`. */
function partOf(text: string, template: (text: string) => string, notes: string[]): Value {
  const [, mark = "", content = ""] = /^([@<]?)(.*)$/s.exec(text)!;
  let [word, rest] = formWord(content);
  const part: Record<string, Value> = { [mark === "" ? "value" : "file"]: template(word) };
  if (mark === "<") notes.push(`-F …=${text}: the part has the name of the file`);
  if (mark === "@" && /^[^"].*,/.test(content)) notes.push(`-F …=${text}: http sends one file`);
  while (rest !== "") {
    const [, name = "", value = ""] = /^\s*(type|filename|headers|encoder)=(.*)$/s.exec(rest) ?? [];
    [word, rest] = formWord(name === "" ? rest : value);
    if (name === "type" || name === "filename") part[name] = template(word);
    else if (name === "" && part.type !== undefined) part.type += `; ${template(word)}`;
    else notes.push(`-F …;${name === "" ? "" : `${name}=`}${word}: ${NOTHING}`);
  }
  return mark === "" && Object.keys(part).length === 1 ? part.value! : part;
}
