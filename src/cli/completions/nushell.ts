import type { CommandOperand, CommandTable, Offers, Option } from "../command.ts";
import { type CommandWords, commandWords } from "./command_words.ts";

/** The completion script for Nushell: a declaration of each command as an external one. */
export function renderNushell(table: CommandTable): string {
  const commands = commandWords(table);
  const completers = new Map(
    commands.flatMap(({ name, operands, options }) =>
      [...operands, ...options].flatMap((part) => {
        const offers = part.choices ?? part.offers;
        return offers === undefined
          ? []
          : [[completerOf(name, part.name, offers), offers] as const];
      })
    ),
  );
  const undeclared = commands.flatMap(({ options }) => options)
    .filter(({ isValueOptional }) => isValueOptional).map(({ name }) => `--${name}`);
  return `# Completion for Nushell. Load it with:
#   runner completions nushell | save --force runner-completions.nu
#   use runner-completions.nu *
# Options whose value is optional cannot be declared: ${undeclared.join(", ")}.

# What the program finds for the words of the line.
def "nu-complete runner values" [kind: string, context: string] {
  ^runner __values $kind ...($context | split row --regex '\\s+' | skip 1)
  | complete
  | get stdout
  | lines
  | parse "{value}\\t{description}"
}
${[...completers].map(([name, offers]) => definition(name, offers)).join("")}${
    commands.map(declaration).join("")
  }`;
}

function definition(name: string, offers: Offers): string {
  const [params, body] = typeof offers === "string"
    ? ["context: string", `nu-complete runner values ${offers} $context`]
    : ["", `[${offers.map(quoted).join(" ")}]`];
  return `\ndef ${quoted(name)} [${params}] {\n  ${body}\n}\n`;
}

/** The name of the command that completes a part of a command. */
function completerOf(command: string, part: string, offers: Offers): string {
  const words = typeof offers === "string" ? [offers] : [command, part];
  return ["nu-complete runner", ...words.filter((word) => word !== "")].join(" ");
}

function declaration({ name, summary, operands, options }: CommandWords): string {
  const lines = [
    // None is required: the program says itself what is missing.
    ...operands.map((operand) => {
      const word = operand.repeats ? `...${operand.name}` : `${operand.name}?`;
      return [`${word}: ${typeOf(name, operand)}`, operand.summary];
    }),
    ...options.filter(({ isValueOptional }) => !isValueOptional).map((option) => {
      const word = `--${option.name}${option.short === undefined ? "" : `(-${option.short})`}`;
      const type = option.value === undefined ? "" : `: ${typeOf(name, option)}`;
      return [word + type, option.summary];
    }),
  ];
  return `
# ${summary}
export extern ${quoted(`runner ${name}`.trim())} [
${lines.map(([word, summary]) => `  ${word} # ${summary}\n`).join("")}]
`;
}

function typeOf(command: string, { name, choices, offers, path }: Option | CommandOperand): string {
  const words = choices ?? offers;
  if (words !== undefined) return `string@${quoted(completerOf(command, name, words))}`;
  return path ? "path" : "string";
}

function quoted(plain: string): string {
  return `"${plain.replace(/[\\"]/g, "\\$&")}"`;
}
