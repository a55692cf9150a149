import type { CommandOperand, CommandTable, Option } from "../command.ts";
import { type CommandWords, commandWords, spellings, valuedWords } from "./command_words.ts";

/** The completion script for PowerShell. */
export function renderPowershell(table: CommandTable): string {
  const commands = commandWords(table);
  return `# Completion for PowerShell. Load it with: runner completions powershell | Out-String | Invoke-Expression

Register-ArgumentCompleter -Native -CommandName runner -ScriptBlock {
    param($word, $ast, $position)

    $commands = @{
${commands.map(commandEntry).join("")}    }
    $valued = @(${valuedWords(table).map(quoted).join(", ")})

    $words = @($ast.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $position } | ForEach-Object { "$_" })
    $command = ''
    $operands = 0
    $awaiting = $null
    foreach ($one in $words) {
        if ($awaiting) { $awaiting = $null }
        elseif ($valued -contains $one) { $awaiting = $one }
        elseif ($one -like '-?*') { }
        elseif ($operands -eq 0 -and -not $command -and $one -and $commands.ContainsKey($one)) { $command = $one }
        else { $operands++ }
    }
    $part = "$word"
    $prefix = ''
    if (-not $awaiting -and $part -match '^(--[^=]+=)(.*)$') {
        $prefix = $Matches[1]
        $part = $Matches[2]
        $awaiting = $prefix.TrimEnd('=')
    }

    $found = @()
    $wanted = $null
    if ($awaiting) {
        $wanted = $commands[$command].Values[$awaiting]
    } elseif ($part -like '-*') {
        $found += $commands[$command].Options
    } else {
        if (-not $command -and $operands -eq 0) {
            $found += $commands.Keys | Where-Object { $_ } | Sort-Object |
                ForEach-Object { @{ Text = $_; Tip = $commands[$_].Summary } }
        }
        $list = @($commands[$command].Operands)
        if ($operands -lt $list.Count) { $wanted = $list[$operands] }
        elseif ($list.Count -gt 0 -and $list[-1].Repeats) { $wanted = $list[-1] }
    }
    if ($wanted.Choices) {
        $found += $wanted.Choices | ForEach-Object { @{ Text = $_; Tip = $_ } }
    }
    if ($wanted.Offers) {
        # What the program finds for the words of the line.
        $all = @($ast.CommandElements | ForEach-Object { "$_".Trim("'", '"') })
        $rest = @($all | Select-Object -Skip 1)
        $found += & $all[0] __values $wanted.Offers @rest 2>$null | ForEach-Object {
            $value, $tip = $_ -split "\`t", 2
            @{ Text = $value; Tip = if ($tip) { $tip } else { $value } }
        }
    }
    $part = $part.Trim("'", '"')
    $found | Where-Object { $_.Text -like "$part*" } | ForEach-Object {
        $text = if ($_.Text -match '\\s') { "'" + $_.Text.Replace("'", "''") + "'" } else { $_.Text }
        [System.Management.Automation.CompletionResult]::new("$prefix$text", $_.Text, 'ParameterValue', $_.Tip)
    }
    if ($wanted.Path) {
        # Of a list by commas the last.
        $before = if ($wanted.Path -eq 'documents' -and $part -match '^(.*,)') { $Matches[1] } else { '' }
        [System.Management.Automation.CompletionCompleters]::CompleteFilename($part.Substring($before.Length)) |
            Where-Object {
                $_.ResultType -eq 'ProviderContainer' -or $wanted.Path -eq 'file' -or
                ($wanted.Path -eq 'documents' -and $_.ListItemText -match '\\.(ya?ml|json)$')
            } | ForEach-Object {
                [System.Management.Automation.CompletionResult]::new("$prefix$before$($_.CompletionText)", $_.ListItemText, $_.ResultType, $_.ToolTip)
            }
    }
}
`;
}

function commandEntry({ name, summary, operands, options }: CommandWords): string {
  const rows = options.flatMap((option) =>
    spellings(option).map((word) => `@{ Text = ${quoted(word)}; Tip = ${quoted(option.summary)} }`)
  );
  const values = options.flatMap((option) =>
    option.value === undefined
      ? []
      : spellings(option).map((word) => `${quoted(word)} = ${kindOf(option)}`)
  );
  return `        ${quoted(name)} = @{
            Summary = ${quoted(summary)}
            Options = @(
${rows.map((row) => `                ${row}\n`).join("")}            )
            Values = @{ ${values.join("; ")} }
            Operands = @(${operands.map(kindOf).join(", ")})
        }
`;
}

function kindOf({ choices, offers, path, repeats }: Option | CommandOperand): string {
  const words = choices ?? (typeof offers === "string" ? undefined : offers);
  const parts = [
    ...words ? [`Choices = @(${words.map(quoted).join(", ")})`] : [],
    ...typeof offers === "string" ? [`Offers = ${quoted(offers)}`] : [],
    ...path ? [`Path = ${quoted(path)}`] : [],
    ...repeats ? ["Repeats = $true"] : [],
  ];
  return `@{ ${parts.join("; ")} }`;
}

function quoted(plain: string): string {
  return `'${plain.replaceAll("'", "''")}'`;
}
