import { literalText } from "../openapi/gen/templates.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import type { Draft, DraftStep } from "../openapi/gen/draft.ts";
import type { ImportInput } from "./draft.ts";
import { headerOf, literal } from "./expressions.ts";
import { bodyOf, httpStep } from "./http_step.ts";
import { dictOf, dictsOf, need, readJson } from "./import_problem.ts";

/** Headers that a browser adds, and that say nothing of the request. */
const NOISE =
  /^(?:sec-.*|user-agent|accept-language|referer|dnt|pragma|cache-control|upgrade-insecure-requests|priority|te|accept-encoding|if-none-match|if-modified-since|cookie)$/i;

/** Resource types that a page loads only for display. */
const FOR_EYES = /^(?:image|stylesheet|font|script|media|manifest|texttrack|preflight|ping)$/i;
const EYE_TYPES = /^(?:image|font|video|audio)\/|css|javascript/i;

const NO_HAR = "a HAR file has log.entries: browsers save one from their network panel";

/** Makes a workflow of what a browser or a proxy has recorded. */
export function translateHar({ files: [file] }: ImportInput): Draft {
  const har = readJson(file!) as Value;
  const path = ["log", "entries"];
  need("map", file!, har, [], NO_HAR);
  need("map", file!, har, ["log"], NO_HAR);
  const entries = need("list", file!, har, path, NO_HAR).map((_, index) => {
    const at = [...path, index];
    const entry = need("map", file!, har, at);
    if (isForEyes(entry)) return undefined;
    need("map", file!, har, [...at, "request"]);
    need("string", file!, har, [...at, "request", "url"]);
    return entry;
  });
  const all = entries.filter((entry) => entry !== undefined);
  const left = entries.length - all.length;
  const wanted = all.filter((entry) => /^https?:/.test(urlOf(entry)));
  const others = new Set(all.filter((entry) => !wanted.includes(entry)).map(urlOf));
  const cookies = new Set<string>();
  const steps = wanted.map((entry, index) => stepOf(entry, index, cookies));
  const host = hostOf(wanted[0]);
  return {
    name: host,
    vars: {},
    jobs: [{ name: host, steps: steps.length === 0 ? [NOTHING] : steps }],
    notes: [
      ...left === 0
        ? []
        : [`${left} requests for images, styles, scripts and fonts: they test nothing`],
      ...[...others].map((url) => `${url.slice(0, 100)}: http sends to http and https alone`),
    ],
  };
}

const NOTHING: DraftStep = {
  data: { name: "nothing was recorded", uses: "hello" },
  notes: ["no request of the file is one for data or a page"],
};

function isForEyes(entry: Dict): boolean {
  if (typeof entry._resourceType === "string") return FOR_EYES.test(entry._resourceType);
  return EYE_TYPES.test(String(dictOf(dictOf(entry.response).content).mimeType ?? ""));
}

function stepOf({ request, response }: Dict, index: number, cookies: Set<string>): DraftStep {
  const [asked, answer] = [dictOf(request), dictOf(response)];
  const notes: string[] = [];
  const url = String(asked.url ?? "");
  const status = Number(answer.status ?? 0) || 0;
  // Without the headers about the cache of the browser, the server sends everything.
  const code = status === 304 ? 200 : status;
  const headers = pairsOf(asked.headers).filter(([name]) => !NOISE.test(name));
  const sent = pairsOf(asked.headers).find(([name]) => /^cookie$/i.test(name))?.[1] ?? "";
  // The job keeps those that a response has set.
  const own = sent.split(/;\s*/).filter((pair) => pair !== "" && !cookies.has(pair.split("=")[0]!));
  for (const [name, value] of pairsOf(answer.headers)) {
    if (!/^set-cookie$/i.test(name)) continue;
    for (const line of value.split("\n")) cookies.add(line.split("=")[0]!.trim());
  }
  const mime = /^[^;\s]+/.exec(String(dictOf(answer.content).mimeType ?? ""))?.[0] ?? "";
  return httpStep({
    name: literalText(`${index + 1}. ${asked.method} ${URL.parse(url)?.pathname ?? url}`),
    method: String(asked.method ?? "GET"),
    url: literalText(url),
    headers: [
      ...headers.map(([name, value]) => [name, literalText(value)] as const),
      ...own.length === 0 ? [] : [["Cookie", literalText(own.join("; "))] as const],
    ],
    body: bodyOfEntry(asked.postData ?? null, notes),
    type: isDict(asked.postData) ? String(asked.postData.mimeType ?? "") || null : undefined,
    more: code >= 300 && code < 400 ? { follow_redirects: false } : {},
    tests: [
      ...code === 0 ? [] : [`res.code == ${code}`],
      ...mime === "" || mime === "x-unknown" || status === 304 || code === 204
        ? []
        : [`${headerOf("content-type")} startsWith ${literal(mime)}`],
    ],
    notes,
  });
}

function bodyOfEntry(data: Value, notes: string[]): Dict {
  if (!isDict(data)) return {};
  const type = String(data.mimeType ?? "");
  const parts = dictsOf(data.params);
  if (/^multipart\//i.test(type)) {
    if (parts.length === 0) {
      notes.push("the body: the parts of a multipart form are not in the file");
      return {};
    }
    return {
      multipart: parts.map(({ name, value, fileName, contentType }) => [
        String(name),
        fileName === undefined
          ? literalText(String(value ?? ""))
          : { file: String(fileName), ...contentType ? { type: contentType } : {} },
      ]),
    };
  }
  // Browsers write the fields of a form as they are sent.
  const fields = parts.map(({ name, value }) => `${name}=${value ?? ""}`.replaceAll(" ", "+"));
  return bodyOf(String(data.text || fields.join("&")), type);
}

function pairsOf(list: Value | undefined): (readonly [name: string, value: string])[] {
  return dictsOf(list).map(({ name, value }) => [String(name), String(value ?? "")] as const);
}

function urlOf(entry: Dict | undefined): string {
  return String(dictOf(entry?.request).url ?? "");
}

function hostOf(entry: Dict | undefined): string {
  return URL.parse(urlOf(entry))?.host ?? "Recorded";
}
