import { isPrintable } from "../../base/text/printable.ts";
import { isDict } from "../../base/value/value.ts";
import type { Host } from "../../host/host.ts";
import { parseDocument, readFiles } from "../../workflow/read_files.ts";
import type {
  Command,
  CommandOperand,
  CommandTable,
  OfferedKind,
  Option,
  PathKind,
  RunCommand,
} from "../command.ts";
import { listPages } from "../help/pages.ts";
import { loadDocuments } from "../help/documents.ts";
import { checkChoice } from "../command_line.ts";

/** A word that may come, and what it is about. */
type Offer = readonly [word: string, about: string];

/** The word that is being typed, in a command line up to it. */
interface TypedLine {
  readonly before: readonly string[];
  readonly current: string;
  /** The mark that the word begins with, if it is in quotes. */
  readonly quote: string;
  /** What of the word the shell leaves as it is. */
  readonly kept: string;
}

/**
 * Prints what may be written for the last of the words of a command line: in each line a word, a tab
 * and a description; for bash the word alone. Somebody is typing, so it is quick and never fails.
 */
export async function complete(
  [shell, ...words]: readonly string[],
  table: CommandTable,
  host: Host,
): Promise<string> {
  const line = readLine(shell as Shell, words);
  const offers = await offersFor(line, table, host).catch(() => []);
  const rows = new Map(
    offers.filter(([word]) => word !== "" && word.startsWith(line.current) && isPrintable(word)),
  );
  return [...rows].map(([word, about]) => {
    const text = quoteFor(shell as Shell, word, line);
    if (shell === "bash") return `${text}\n`;
    return `${text}\t${isPrintable(about) ? about : ""}\n`;
  }).join("");
}

function readLine(shell: Shell, words: readonly string[]): TypedLine {
  const raw = shell === "bash" ? joinWords(words) : words;
  const last = raw.at(-1) ?? "";
  const typed = shell === "powershell" ? last.slice(1) : last;
  const [quote = ""] = /^["']/.exec(typed) ?? [];
  const current = unquote(typed);
  // Bash replaces what it takes for the last word.
  const piece = /^[=:]+$/.test(words.at(-1) ?? "") ? "" : words.at(-1) ?? "";
  const kept = shell === "bash" ? current.slice(0, current.length - unquote(piece).length) : "";
  return { before: raw.slice(0, -1).map(unquote), current, quote, kept };
}

/** The words as they are written, of those that bash splits at `=` and `:`. */
function joinWords(words: readonly string[]): string[] {
  const joined: string[] = [];
  words.forEach((word, index) => {
    const isPart = /^[=:]+$/.test(word) || /^[=:]+$/.test(words[index - 1] ?? "");
    if (isPart && joined.length > 0) joined.push(joined.pop()! + word);
    else joined.push(word);
  });
  return joined;
}

/** A word without quotes and backslashes, which may be open. */
function unquote(word: string): string {
  return /^["']/.test(word) ? word.replaceAll(word[0]!, "") : word.replace(/\\(.)/g, "$1");
}

function quoteFor(shell: Shell, word: string, { quote, kept }: TypedLine): string {
  const text = word.slice(kept.length);
  if (quote !== "") return shell === "bash" ? text : `${quote}${text}${quote}`;
  if (shell === "powershell" || shell === "nushell") {
    return /[\s'"]/.test(text) ? `'${text.replaceAll("'", "''")}'` : text;
  }
  return shell === "fish" ? text : text.replace(/[\s"'\\$&|;<>()*?[\]{}`!#]/g, "\\$&");
}

async function offersFor(
  { before, current }: TypedLine,
  table: CommandTable,
  host: Host,
): Promise<readonly Offer[]> {
  const { command, operands, awaiting, isRest } = readWords(before, table);
  const options = [...command.options, ...table.common];
  const find = (word: string | undefined) =>
    options.find((option) => spellings(option).includes(word ?? ""));
  const values = async (part: Option | CommandOperand | undefined, typed: string) => {
    const { choices, offers, path } = part ?? {};
    if (typeof offers === "string") return await findValues(offers, before, table, host);
    const words = choices ?? offers;
    if (words) return words.map((word): Offer => [word, ""]);
    return path ? await pathsFor(typed, path, host) : [];
  };
  if (awaiting !== undefined) return await values(find(awaiting), current);
  const [, name, value = ""] = isRest ? [] : /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  if (name !== undefined) {
    return (await values(find(name), value)).map(([word, about]) => [`${name}=${word}`, about]);
  }
  if (!isRest && current.startsWith("-")) {
    return options.flatMap((option) =>
      spellings(option).map((word): Offer => [word, option.summary])
    );
  }
  const isFirst = command === table.fallback && operands === 0;
  const last = command.operands.at(-1);
  const operand = command.operands[operands] ?? (last?.repeats ? last : undefined);
  return [
    ...isFirst && !isRest
      ? table.commands.map(({ name = "", summary }): Offer => [name, summary])
      : [],
    ...await values(operand, current),
  ];
}

/** The command of the words, how many operands it has, and the option that takes the next word. */
function readWords(words: readonly string[], table: CommandTable) {
  const valued = new Set(
    [...table.commands, table.fallback].flatMap(({ options }) => [...options, ...table.common])
      .filter(({ value, isValueOptional }) => value !== undefined && !isValueOptional)
      .flatMap(spellings),
  );
  let command: Command = table.fallback;
  let [operands, isRest] = [0, false];
  let awaiting: string | undefined;
  for (const word of words) {
    if (awaiting !== undefined) awaiting = undefined;
    else if (!isRest && word === "--") isRest = true;
    else if (!isRest && /^-./.test(word)) {
      if (valued.has(word)) awaiting = word;
    } else {
      const named = operands === 0 && command === table.fallback && !isRest
        ? table.commands.find(({ name }) => name === word)
        : undefined;
      if (named) command = named;
      else operands++;
    }
  }
  return { command, operands, awaiting, isRest };
}

/** An option as it can be written: `--verbose` and `-v`. */
function spellings({ name, short }: Option): string[] {
  return [`--${name}`, ...short === undefined ? [] : [`-${short}`]];
}

/** Files and directories whose paths begin as typed; of several documents by commas the last. */
async function pathsFor(typed: string, kind: PathKind, { files, env }: Host): Promise<Offer[]> {
  const before = kind === "documents" ? typed.slice(0, typed.lastIndexOf(",") + 1) : "";
  const directory = typed.slice(before.length, typed.lastIndexOf("/") + 1);
  const hidden = typed.slice(before.length + directory.length).startsWith(".");
  const home = env.get("HOME") ?? "~";
  const entries = await files.entries(directory.replace(/^~(?=\/)/, () => home) || ".") ?? [];
  return entries.flatMap(({ name, kind: entry }): Offer[] => {
    if (name.startsWith(".") && !hidden) return [];
    const word = before + directory + name;
    if (entry === "directory") return [[`${word}/`, ""]];
    const isWanted = kind === "file" || kind === "documents" && /\.(?:ya?ml|json)$/.test(name);
    return isWanted ? [[word, ""]] : [];
  });
}

/** What an option or operand may be, from the words of the line before it. */
function findValues(
  kind: OfferedKind,
  words: readonly string[],
  table: CommandTable,
  host: Host,
): Promise<readonly Offer[]> {
  return OFFERS[kind](words, host, table);
}

const OFFERS: {
  readonly [K in OfferedKind]: (
    words: readonly string[],
    host: Host,
    table: CommandTable,
  ) => Promise<readonly Offer[]>;
} = { topics, jobs, tags, vars };

async function topics(
  _: readonly string[],
  { files }: Host,
  { commands }: CommandTable,
): Promise<readonly Offer[]> {
  const pages = listPages(await loadDocuments(files).catch(() => ({})));
  return [
    ...pages.map(({ name, title }) => [name, title] as const),
    ["machines", "Commands and options for runs on several machines"],
    ...commands.map(({ name = "", summary }) => [name, summary] as const),
  ];
}

/** The jobs by their ids, or by their names if they have no id. */
async function jobs(words: readonly string[], host: Host): Promise<readonly Offer[]> {
  return (await readWorkflows(words, host)).flatMap(jobsOf).map(({ id, name }) =>
    typeof id === "string" ? [id, String(name ?? "")] : [String(name ?? ""), ""]
  );
}

async function tags(words: readonly string[], host: Host): Promise<readonly Offer[]> {
  const all = await readWorkflows(words, host);
  return all.flatMap((workflow) => [workflow, ...jobsOf(workflow)])
    .flatMap(({ tags }) => Array.isArray(tags) ? tags : []).map((tag) => [String(tag), ""]);
}

async function vars(words: readonly string[], host: Host): Promise<readonly Offer[]> {
  const all = await readWorkflows(words, host);
  return all.flatMap(({ vars }) => isDict(vars) ? Object.keys(vars) : [])
    .map((name) => [`${name}=`, ""]);
}

type Draft = Readonly<Record<string, unknown>>;

function jobsOf({ jobs }: Draft): readonly Draft[] {
  return Array.isArray(jobs) ? jobs.filter(isDict) : [];
}

/** The workflows that a line names, without a check whether they are valid. */
async function readWorkflows(words: readonly string[], host: Host): Promise<readonly Draft[]> {
  const named = words.filter((word) => /\.(?:ya?ml|json)$/i.test(word));
  const read = async (word: string) => (await parseDocument(await readFiles(word, host))).value;
  const all = await Promise.all(named.map((word) => read(word).catch(() => undefined)));
  return all.filter(isDict);
}

/** The shells that can complete command lines. */
const SHELLS = ["bash", "zsh", "fish", "powershell", "nushell"] as const;

type Shell = (typeof SHELLS)[number];

/** The scripts for the shells: each asks the program what may come, and offers it. */
const SCRIPTS: Readonly<Record<Shell, string>> = {
  // Bash splits words at "=" and ":", and replaces only the last piece: the program knows.
  bash: `# Completion for bash. Load it with: source <(runner completions bash)

_runner() {
  local line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("$line")
  done < <("\${COMP_WORDS[0]}" __complete bash "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
  [[ \${#COMPREPLY[@]} != 1 || \${COMPREPLY[0]} != *[=/] ]] || compopt -o nospace 2>/dev/null
}

complete -F _runner runner
`,

  zsh: `#compdef runner
# Completion for zsh. Load it with: source <(runner completions zsh)
# or print it into a file "_runner" in a directory of $fpath.

_runner() {
  local -a whole stems
  local line value
  for line in \${(f)"$("\${words[1]}" __complete zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)"}; do
    value=\${line%%$'\\t'*}
    line=\${value//:/\\\\:}:\${line#*$'\\t'}
    if [[ $value == *[=/] ]]; then stems+=("$line"); else whole+=("$line"); fi
  done
  _describe -t values value whole -Q -- stems -Q -S ''
}

if [[ \${funcstack[1]} == _runner ]]; then
  _runner "$@"
else
  compdef _runner runner
fi
`,

  fish: `# Completion for fish. Load it with: runner completions fish | source
# or print it into ~/.config/fish/completions/runner.fish

function __runner_complete
    set -l words (commandline -opc)
    $words[1] __complete fish $words[2..-1] (commandline -ct) 2>/dev/null
end

complete -c runner -f -a '(__runner_complete)'
`,

  // Older versions do not pass an empty argument: a mark before the last word keeps it.
  powershell: `# Completion for PowerShell. Load it with:
# runner completions powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName runner -ScriptBlock {
    param($word, $ast, $position)
    $all = @($ast.CommandElements | Where-Object { $_.Extent.EndOffset -lt $position } |
        ForEach-Object { "$_" })
    $rest = @($all | Select-Object -Skip 1)
    & $all[0] __complete powershell @rest ".$word" 2>$null | ForEach-Object {
        $value, $about = $_ -split "\`t", 2
        if (-not $about) { $about = $value }
        [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $about)
    }
}
`,

  nushell: `# Completion for Nushell. Load it with:
#   runner completions nushell | save --force runner-completions.nu
#   source runner-completions.nu

let other_completer = $env.config?.completions?.external?.completer?
$env.config.completions.external.completer = {|spans|
  if $spans.0 == runner {
    ^runner __complete nushell ...($spans | skip 1) | lines | parse "{value}\\t{description}"
  } else if $other_completer != null {
    do $other_completer $spans
  }
}
`,
};

/** Prints the script that makes a shell complete command lines. */
export const completionsCommand: RunCommand = ({ operands: [shell = ""] }, { host }) => {
  checkChoice("<shell>", shell, SHELLS);
  host.stdout.write(SCRIPTS[shell as Shell]);
  return Promise.resolve(0);
};
