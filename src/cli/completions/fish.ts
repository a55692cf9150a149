import type { CommandOperand, CommandTable, Option, PathKind } from "../command.ts";
import { type CommandWords, commandWords, valuedWords } from "./command_words.ts";

const FILES: Readonly<Record<PathKind, string>> = {
  documents: "-x -k -a '(__runner_documents)'",
  file: "-r -F",
  directory: "-x -a '(__fish_complete_directories)'",
};

/** The completion script for fish. */
export function renderFish(table: CommandTable): string {
  const commands = commandWords(table);
  const named = commands.filter(({ name }) => name !== "");
  return `# Completion for fish. Load it with: runner completions fish | source
# or print it into ~/.config/fish/completions/runner.fish

# The operands before the cursor, one a line.
function __runner_operands
    set -l awaiting 0
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if test $awaiting -eq 1
            set awaiting 0
            continue
        end
        switch $word
            case ${[...valuedWords(table).map(quoted), "''"].join(" ")}
                set awaiting 1
            case '-*'
            case '*'
                echo $word
        end
    end
end

# Whether the command is that one; the one that runs workflows has no name.
function __runner_in
    set -l operands (__runner_operands)
    set -l command ''
    if set -q operands[1]; and contains -- $operands[1] ${named.map(({ name }) => name).join(" ")}
        set command $operands[1]
    end
    test "$command" = "$argv[1]"
end

# Whether the cursor is at that operand of that command, counted from 1.
function __runner_at
    __runner_in $argv[1]; or return
    set -l operands (__runner_operands)
    set -l at (math (count $operands) + 1)
    test -n "$argv[1]"; and set at (math $at - 1)
    test $at -eq $argv[2]; or test "$argv[3]" = repeats -a $at -gt $argv[2]
end

# YAML and JSON files; of a list by commas the last.
function __runner_documents
    set -l before (string match -r '^.*,' -- (commandline -ct))
    set -l part (string replace -r '^.*,' '' -- (commandline -ct))
    for path in $part*/ $part*.yml $part*.yaml $part*.json
        echo "$before$path"
    end
end

# What the program finds for the words of the line.
function __runner_values
    set -l words (commandline -op)
    $words[1] __values $argv[1] $words[2..-1] 2>/dev/null
end

complete -c runner -f
${
    named.map(({ name, summary }) =>
      `complete -c runner -n '__runner_at "" 1' -a ${name} -d ${quoted(summary)}\n`
    ).join("")
  }${commands.map(commandLines).join("")}`;
}

function commandLines({ name, operands, options }: CommandWords): string {
  return [
    ...operands.flatMap((operand, index) => {
      const act = action(operand);
      const repeats = operand.repeats ? " repeats" : "";
      const condition = quoted(`__runner_at "${name}" ${index + 1}${repeats}`);
      return act === undefined ? [] : [`complete -c runner -n ${condition} ${act}`];
    }),
    ...options.map((option) => {
      const short = option.short === undefined ? "" : ` -s ${option.short}`;
      const takes = option.value === undefined ? "" : ` ${action(option) ?? "-x"}`;
      return `complete -c runner -n ${quoted(`__runner_in "${name}"`)} -l ${option.name}${short}` +
        `${takes} -d ${quoted(option.summary)}`;
    }),
  ].map((line) => `${line}\n`).join("");
}

function action({ choices, offers, path }: Option | CommandOperand): string | undefined {
  if (typeof offers === "string") return `-x -a '(__runner_values ${offers})'`;
  const words = choices ?? offers;
  if (words) return `-x -a ${quoted(words.join(" "))}`;
  return path && FILES[path];
}

function quoted(plain: string): string {
  return `'${plain.replace(/[\\']/g, "\\$&")}'`;
}
