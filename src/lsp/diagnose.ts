import { fromFileUrl } from "@std/path/from-file-url";
import { join } from "@std/path/join";
import { checkFile } from "../check/check_file.ts";
import type { Host } from "../host/host.ts";
import type { Diagnostic, Severity } from "../base/diagnostic.ts";
import { spanInFile } from "../base/source.ts";
import { checkSuite } from "../suite/suite_of_file.ts";
import { readLimits } from "../workflow/limits.ts";
import { isAbsolute } from "../workflow/read_files.ts";
import type { CheckModel } from "../check/model.ts";
import type { Outline, TextRange } from "./outline.ts";

/** Something that `check` finds in a file. */
export interface Finding extends TextRange {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  /** The text to write instead. */
  readonly fix?: string;
}

/** No code of a plugin is loaded: nothing may be run. */
const NOTHING_RUNS = { run: [] };

/** What `check` finds in a file, and what it finds it in. */
export interface Checked extends Partial<Pick<CheckModel, "document" | "uses">> {
  readonly findings: readonly Finding[];
  /** Undefined for a suite, and where nothing could be decoded. */
  readonly model?: CheckModel;
}

/** Checks a file. The editor may have a newer text than the disk. */
export async function diagnose(
  path: string,
  { text, readable }: Outline,
  host: Host,
): Promise<Checked> {
  const checked = await check(path, host);
  if (readable === text) return checked;
  // Other things that seem to be missing may be in the part that cannot be read.
  const rest = await checkText(readable, path, host);
  const unread = text.split("").map((unit, at) => unit === readable[at] ? " " : unit).join("");
  const words = new Set(unread.match(/[\w-]+/g));
  const findings = rest.findings.filter(({ fix, start, end }) =>
    fix !== undefined && !words.has(text.slice(start, end))
  );
  return { ...rest, findings: [...checked.findings, ...findings] };
}

/** Checks a file as if it had another text. */
export function checkText(text: string, path: string, host: Host): Promise<Checked> {
  return check(path, overlay(host, (one) => one === path ? text : undefined));
}

async function check(path: string, host: Host): Promise<Checked> {
  const suite = await checkSuite(path, host);
  const limits = { ...readLimits(host.env), permissions: NOTHING_RUNS };
  const { refusal, diagnostics, model } = suite
    ? { ...suite, refusal: undefined, model: undefined }
    : await checkFile(path, host, limits);
  const { document, uses } = suite ?? model ?? {};
  const findings = diagnostics.flatMap((one) => toFinding(one, path));
  if (!refusal || findings.length > 0) return { findings, document, uses, model };
  const message = [refusal.message, refusal.hint ?? []].flat().join("\n");
  return { findings: [{ severity: "error", code: "file", message, start: 0, end: 0 }] };
}

/** A diagnostic of this file; those of other files are shown there. */
function toFinding(diagnostic: Diagnostic, path: string): readonly Finding[] {
  const { severity, code, message, hint, span } = diagnostic;
  if (!span) return [{ severity, code, message: withHint(message, hint), start: 0, end: 0 }];
  const { source, start, end } = spanInFile(span);
  if (source.name !== path) return [];
  const fix = fixFor(message, hint, source.text.slice(start, end));
  return [{
    ...{ severity, code, message: withHint(message, hint), start, end },
    fix,
  }];
}

function withHint(message: string, hint: string | undefined): string {
  return hint === undefined ? message : `${message}\n${hint}`;
}

/** The text that a hint suggests in place of the one that is marked. */
function fixFor(message: string, hint: string | undefined, marked: string): string | undefined {
  const [, meant] = /(?:^|: )did you mean "([^"]+)"\?/.exec(hint ?? message) ??
    /^the key is "(\w+)"(?!, or)/.exec(hint ?? "") ?? [];
  if (meant === undefined) return undefined;
  // Quotes within quotes of YAML are written with a backslash, or twice.
  const [, quote = "", word] = /^(\\?"|'{0,2})([^"'\\\n]+)\1$/.exec(marked) ?? [];
  // A message about a path quotes the name of the file.
  const name = word?.split(/[\\/]/).at(-1);
  if (word === undefined || !name || !message.includes(name)) return undefined;
  const rest = /\.ya?ml$/.test(meant) ? word.slice(0, word.length - name.length) : "";
  return quote + rest + meant + quote;
}

/** The machine with other texts in place of some files. */
export function overlay(host: Host, textAt: (path: string) => string | undefined): Host {
  const textOf = (path: string | URL) => {
    const name = path instanceof URL ? fromFileUrl(path) : path;
    return isAbsolute(name) ? textAt(join(name)) : undefined;
  };
  return {
    ...host,
    files: {
      ...host.files,
      read: (path) => {
        const text = textOf(path);
        return text === undefined
          ? host.files.read(path)
          : Promise.resolve(new TextEncoder().encode(text));
      },
      isFile: (path) =>
        textOf(path) === undefined ? host.files.isFile(path) : Promise.resolve(true),
    },
  };
}
