import type { RunCommand } from "../command.ts";
import { checkChoice } from "../command_line.ts";

/** The shells that can complete command lines. */
const SHELLS = ["bash", "zsh", "fish", "powershell", "nushell"] as const;

export type Shell = (typeof SHELLS)[number];

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
