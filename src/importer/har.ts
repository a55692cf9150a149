import { type Dict, dictOf, isDict, type Value } from "../base/value/value.ts";
import type { Draft, DraftStep } from "../draft/draft.ts";
import { headerOf, literal } from "./expressions.ts";
import { Names } from "../draft/names.ts";
import { dictsOf, type ImportInput, need, readJson } from "./input.ts";
import { multipartOf, RequestDraft } from "../draft/request_draft.ts";

/** Headers that a browser adds, and that say nothing of the request. */
const NOISE =
  /^(?:sec-.*|user-agent|accept-language|referer|dnt|pragma|cache-control|upgrade-insecure-requests|priority|te|accept-encoding|if-none-match|if-modified-since|cookie)$/i;

/** Resource types that a page loads only for display. */
const DISPLAY_RESOURCES =
  /^(?:image|stylesheet|font|script|media|manifest|texttrack|preflight|ping)$/i;
const DISPLAY_TYPES = /^(?:image|font|video|audio)\/|css|javascript/i;

const NO_HAR = "a HAR file has log.entries: browsers save one from their network panel";

/** Makes a workflow from the recording of a browser or a proxy. */
export function translateHar({ files: [file] }: ImportInput): Draft {
  const har = readJson(file!);
  const path = ["log", "entries"];
  need("map", file!, har, [], NO_HAR);
  need("map", file!, har, ["log"], NO_HAR);
  const entries = need("list", file!, har, path, NO_HAR).map((_, index) => {
    const at = [...path, index];
    const entry = need("map", file!, har, at);
    if (isForDisplay(entry)) return undefined;
    need("map", file!, har, [...at, "request"]);
    need("string", file!, har, [...at, "request", "url"]);
    return entry;
  });
  const all = entries.filter((entry) => entry !== undefined);
  const skipped = entries.length - all.length;
  const wanted = all.filter((entry) => /^https?:/.test(urlOf(entry)));
  const others = new Set(all.filter((entry) => !wanted.includes(entry)).map(urlOf));
  const cookies = new Set<string>();
  const steps = wanted.map((entry, index) => stepOf(entry, index, cookies));
  const name = URL.parse(urlOf(wanted[0]))?.host ?? "Recorded";
  return {
    name,
    vars: {},
    jobs: [{ name, steps: steps.length === 0 ? [NOTHING] : steps }],
    notes: [
      ...skipped === 0
        ? []
        : [`${skipped} requests for images, styles, scripts and fonts: they test nothing`],
      ...[...others].map((url) => `${url.slice(0, 100)}: http sends to http and https alone`),
    ],
  };
}

const NOTHING: DraftStep = {
  data: { name: "nothing was recorded", uses: "hello" },
  notes: ["no request of the file is one for data or a page"],
};

function isForDisplay(entry: Dict): boolean {
  if (typeof entry._resourceType === "string") return DISPLAY_RESOURCES.test(entry._resourceType);
  return DISPLAY_TYPES.test(String(dictOf(dictOf(entry.response).content).mimeType ?? ""));
}

/** `cookies` are those that earlier responses have set, which the job keeps. */
function stepOf(entry: Dict, index: number, cookies: Set<string>): DraftStep {
  const [sent, received] = [dictOf(entry.request), dictOf(entry.response)];
  const request = new RequestDraft(new Names(), (text) => text);
  const url = String(sent.url ?? "");
  request.name = `${index + 1}. ${sent.method} ${URL.parse(url)?.pathname ?? url}`;
  request.method = String(sent.method ?? "GET");
  request.url = url;
  for (const [name, value] of pairsOf(sent.headers)) {
    if (!NOISE.test(name)) request.headers.push([name, value]);
  }
  const cookie = pairsOf(sent.headers).find(([name]) => /^cookie$/i.test(name))?.[1] ?? "";
  const others = cookie.split(/;\s*/)
    .filter((pair) => pair !== "" && !cookies.has(pair.split("=")[0]!));
  if (others.length > 0) request.headers.push(["Cookie", others.join("; ")]);
  for (const [name, value] of pairsOf(received.headers)) {
    if (!/^set-cookie$/i.test(name)) continue;
    for (const line of value.split("\n")) cookies.add(line.split("=")[0]!.trim());
  }
  if (isDict(sent.postData ?? null)) setBody(request, sent.postData as Dict);
  const status = Number(received.status ?? 0) || 0;
  // Without the headers about the cache of the browser, the server sends everything.
  const code = status === 304 ? 200 : status;
  if (code >= 300 && code < 400) request.params.follow_redirects = false;
  if (code !== 0) request.tests.push(`res.code == ${code}`);
  const mime = /^[^;\s]+/.exec(String(dictOf(received.content).mimeType ?? ""))?.[0] ?? "";
  if (mime !== "" && mime !== "x-unknown" && status !== 304 && code !== 204) {
    request.tests.push(`${headerOf("content-type")} startsWith ${literal(mime)}`);
  }
  return request.step();
}

function setBody(request: RequestDraft, data: Dict): void {
  const type = String(data.mimeType ?? "");
  request.type = type || null;
  const parts = dictsOf(data.params);
  const text = textOf(data);
  if (text === undefined) {
    request.notes.push("the body: its bytes are no text, see the parameter file of http");
    return;
  }
  if (!/^multipart\//i.test(type)) {
    // Browsers write the fields of a form as they are sent.
    const fields = parts.map(({ name, value }) => `${name}=${value ?? ""}`.replaceAll(" ", "+"));
    return request.setText(text || fields.join("&"), type);
  }
  if (parts.length === 0) {
    const multipart = multipartOf(text, type, request.template);
    if (multipart.length > 0) request.body = { multipart };
    else request.notes.push("the body: the parts of a multipart form are not in the file");
    return;
  }
  request.body = {
    multipart: parts.map(({ name, value, fileName, contentType }) => [
      String(name),
      fileName === undefined
        ? String(value ?? "")
        : { file: String(fileName), ...contentType ? { type: contentType } : {} },
    ]),
  };
}

/** The text of a body, which may be in base64; undefined if it is binary. */
function textOf({ text, encoding, _encoding = encoding }: Dict): string | undefined {
  const written = String(text ?? "");
  if (_encoding !== "base64") return written;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Uint8Array.fromBase64(written));
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    return undefined;
  }
}

function pairsOf(list: Value | undefined): (readonly [name: string, value: string])[] {
  return dictsOf(list).map(({ name, value }) => [String(name), String(value ?? "")] as const);
}

function urlOf(entry: Dict | undefined): string {
  return String(dictOf(entry?.request).url ?? "");
}
