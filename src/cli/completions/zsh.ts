import type { CommandOperand, CommandTable, Option, PathKind } from "../command.ts";
import {
  casePattern,
  type CommandWords,
  commandWords,
  shellQuoted,
  spellings,
  valuedWords,
} from "./command_words.ts";

const FILES: Readonly<Record<PathKind, string>> = {
  documents: "_runner_documents",
  file: "_files",
  directory: "_files -/",
};

/** The completion script for zsh, to be loaded by `source` or from a directory of `$fpath`. */
export function renderZsh(table: CommandTable): string {
  const commands = commandWords(table);
  const named = commands.filter(({ name }) => name !== "");
  return `#compdef runner
# Completion for zsh. Load it with: source <(runner completions zsh)
# or print it into a file "_runner" in a directory of $fpath.

_runner_documents() {
  _sequence _files -g '*.(yml|yaml|json)'
}

_runner_commands() {
  local -a commands=(
${named.map(({ name, summary }) => `    ${shellQuoted(`${name}:${summary}`)}\n`).join("")}  )
  _describe -t commands command commands
}

# Words behind which a value follows.
_runner_stems() {
  compadd -S '' -- "$@"
}

# What the program finds for the words of the line.
_runner_values() {
  local -a offers
  local line
  for line in \${(f)"$("\${words[1]}" __values $1 "\${(@)words[2,-1]}" 2>/dev/null)"}; do
    offers+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  if [[ $1 == vars ]]; then
    _describe -t $1 $1 offers -S ''
  else
    _describe -t $1 $1 offers
  fi
}

_runner_first() {
  _alternative 'commands:command:_runner_commands' 'files:workflow file:_runner_documents'
}

_runner() {
  local command= awaiting= word
  local -i i
  for ((i = 2; i < CURRENT; i++)); do
    word=\${words[i]}
    if [[ -n $awaiting ]]; then
      awaiting=
      continue
    fi
    case $word in
      ${casePattern(valuedWords(table))}) awaiting=1 ;;
      -?*) ;;
      *)
        command=$word
        break
        ;;
    esac
  done
  case $command in
${commands.map(commandCase).join("")}  esac
}

if [[ \${funcstack[1]} == _runner ]]; then
  _runner "$@"
else
  compdef _runner runner
fi
`;
}

function commandCase({ name, operands, options }: CommandWords): string {
  const specs = [
    ...options.map(optionSpec),
    ...name === "" ? [] : [shellQuoted(`1: :(${name})`)],
    ...operands.map((operand, index) => {
      // Beside a file, the first word may be the name of a command.
      const act = name === "" && index === 0 ? "_runner_first" : action(operand);
      const position = operand.repeats ? "*" : String(index + (name === "" ? 1 : 2));
      return shellQuoted(`${position}:${text(operand.name.replaceAll("_", " "))}:${act}`);
    }),
  ];
  return `    ${name === "" ? "*" : name})
      _arguments -s : \\
${specs.map((spec) => `        ${spec}`).join(" \\\n")}
      ;;
`;
}

function optionSpec(option: Option): string {
  const { name, short, value, repeats, summary } = option;
  const names = spellings(option);
  const takes = value === undefined ? "" : `:${text(value)}:${action(option)}`;
  const about = `[${text(summary)}]${takes}`;
  const equals = value === undefined ? "" : "=";
  const exclusive = repeats ? "*" : `(${names.join(" ")})`;
  if (short === undefined) return shellQuoted(`${repeats ? "*" : ""}--${name}${equals}${about}`);
  const short_ = value === undefined ? `-${short}` : `-${short}+`;
  return `${shellQuoted(exclusive)}{${short_},--${name}${equals}}${shellQuoted(about)}`;
}

function action({ choices, offers, path }: Option | CommandOperand): string {
  // A space before it: exactly these words are called.
  if (typeof offers === "string") return ` _runner_values ${offers}`;
  if (offers) return ` _runner_stems ${offers.join(" ")}`;
  if (choices) return `(${choices.join(" ")})`;
  return path ? FILES[path] : " ";
}

/** A text inside of a specification, in which brackets and colons have a meaning. */
function text(plain: string): string {
  return plain.replace(/[\\[\]:]/g, "\\$&");
}
