import type { CommandOperand, CommandTable, Option } from "../command.ts";
import {
  casePattern,
  type CommandWords,
  commandWords,
  shellQuoted,
  spellings,
  valuedWords,
} from "./command_words.ts";

/** The completion script for bash; it needs nothing but bash, from 3.2 on. */
export function renderBash(table: CommandTable): string {
  const commands = commandWords(table);
  const names = commands.flatMap(({ name }) => name || []);
  return `# Completion for bash. Load it with: source <(runner completions bash)

_runner_word() {
  [[ $1 != *= ]] || compopt -o nospace 2>/dev/null
  COMPREPLY+=("$prefix\${1#"$cut"}")
}

_runner_words() {
  local word
  while IFS= read -r word; do
    _runner_word "$word"
  done < <(compgen -W "$1" -- "$current")
}

# What the program finds for the words of the line.
_runner_values() {
  local part=\${current#[\\"\\']} value
  while IFS=$'\\t' read -r value _; do
    [[ $value == "$part"* ]] || continue
    [[ $part != "$current" ]] || printf -v value %q "$value"
    _runner_word "$value"
  done < <("\${COMP_WORDS[0]}" __values "$1" "\${COMP_WORDS[@]:1}" 2>/dev/null)
}

_runner_paths() {
  local kind=$1 before= part=$current path
  case $part in [\\"\\']*) part=\${part:1} ;; esac
  part=\${part//\\\\/}
  if [[ $kind == documents && $part == *,* ]]; then
    before=\${part%,*},
    part=\${part##*,}
  fi
  compopt -o filenames 2>/dev/null
  while IFS= read -r path; do
    if [[ -d \${path/#"~/"/"$HOME/"} ]]; then
      if [[ -n $before ]]; then
        path+=/
        compopt -o nospace 2>/dev/null
      fi
    else
      case $kind:$path in
        file:* | documents:*.yml | documents:*.yaml | documents:*.json) ;;
        *) continue ;;
      esac
    fi
    path=$before$path
    COMPREPLY+=("$prefix\${path#"$cut"}")
  done < <(compgen -f -- "$part")
}

_runner() {
  local word current command= awaiting= prefix= cut= typed=\${COMP_WORDS[COMP_CWORD]}
  local -a words=()
  local -i i n=0 operands=0 rest=0
  COMPREPLY=()
  # Bash splits words at "=" and ":", and puts in only what comes behind.
  for ((i = 1; i <= COMP_CWORD; i++)); do
    word=\${COMP_WORDS[i]}
    if ((n > 0)) && [[ $word =~ ^[=:]+$ || \${COMP_WORDS[i - 1]} =~ ^[=:]+$ ]]; then
      words[n - 1]+=$word
    else
      words[n++]=$word
    fi
  done
  for ((i = 0; i < n - 1; i++)); do
    word=\${words[i]}
    if [[ -n $awaiting ]]; then
      awaiting=
    elif ((rest == 0)) && [[ $word == -?* ]]; then
      case $word in
        --) rest=1 ;;
        ${casePattern(valuedWords(table))}) awaiting=$word ;;
      esac
    elif ((operands == 0)) && [[ -z $command ]]; then
      case $word in
        ${casePattern(names)}) command=$word ;;
        *) operands=1 ;;
      esac
    else
      operands+=1
    fi
  done
  current=\${words[n - 1]}
  [[ ! $typed =~ ^[=:]+$ ]] || typed=
  if ((rest == 0)) && [[ -z $awaiting && $current == --*=* ]]; then
    awaiting=\${current%%=*}
    current=\${current#*=}
    if [[ $typed == --*=* ]]; then
      prefix=$awaiting=
      typed=\${typed#*=}
    fi
  fi
  cut=\${current%"$typed"}
  if [[ -n $awaiting ]]; then
    case $command:$awaiting in
${
    commands.flatMap((command) => command.options.flatMap((option) => valueCase(command, option)))
      .map((line) => `      ${line}\n`).join("")
  }    esac
  elif ((rest == 0)) && [[ $current == -* ]]; then
    case $command in
${
    commands.map(({ name, options }) =>
      `      ${shellQuoted(name)}) _runner_words ${
        shellQuoted(options.flatMap(spellings).join(" "))
      } ;;\n`
    ).join("")
  }    esac
  else
    [[ -n $command ]] || ((operands > 0)) || _runner_words ${shellQuoted(names.join(" "))}
    case $command:$operands in
${
    commands.flatMap(({ name, operands }) =>
      operands.flatMap((operand, index) => operandCase(name, operand, index))
    ).map((line) => `      ${line}\n`).join("")
  }    esac
  fi
}

complete -F _runner runner
`;
}

function valueCase({ name }: CommandWords, option: Option): string[] {
  if (option.value === undefined) return [];
  const act = action(option);
  if (act === undefined) return [];
  return [`${casePattern(spellings(option).map((word) => `${name}:${word}`))}) ${act} ;;`];
}

function operandCase(command: string, operand: CommandOperand, index: number): string[] {
  const act = action(operand);
  if (act === undefined) return [];
  return [`${command}:${operand.repeats ? "*" : index}) ${act} ;;`];
}

function action({ choices, offers, path }: Option | CommandOperand): string | undefined {
  if (typeof offers === "string") return `_runner_values ${offers}`;
  const words = choices ?? offers;
  if (words) return `_runner_words ${shellQuoted(words.join(" "))}`;
  return path && `_runner_paths ${path}`;
}
