import { hintForFunction } from "../../base/other_tools.ts";

/** A token that could not be parsed, and the text around it. */
interface Misfit {
  readonly input: string;
  readonly start: number;
  readonly end: number;
  /** Whether the expression is between `{{` and `}}`. */
  readonly inTemplate: boolean;
  /** Whether an expression could have ended before the token. */
  readonly isBehind: boolean;
}

/** A hint for a token that makes no sense. */
export function syntaxHint(misfit: Misfit): string | undefined {
  return HINTS.find(({ applies }) => applies(misfit))?.hint(misfit);
}

interface Hint {
  readonly applies: (misfit: Misfit) => boolean;
  readonly hint: (misfit: Misfit) => string;
}

export const COMMENT_HINT = "a comment is written // … or /* … */";

/** The first that applies is given. */
const HINTS: readonly Hint[] = [
  {
    applies: (misfit) => misfit.isBehind && token(misfit) === "#",
    hint: () => COMMENT_HINT,
  },
  {
    applies: (misfit) =>
      token(misfit) === ">" && before(misfit).endsWith("-") ||
      token(misfit) === "=" && after(misfit) === ">",
    hint: () => "to compare write >=; a condition needs no parameter: filter(list, # > 1)",
  },
  {
    applies: (misfit) => token(misfit) === "~" || after(misfit) === "~",
    hint: () => 'for a pattern write text matches "^a+$"',
  },
  {
    applies: (misfit) => token(misfit) === "=",
    hint: (misfit) =>
      before(misfit).endsWith("!=") ? "use != without another =" : "use == to compare",
  },
  {
    applies: (misfit) => misfit.inTemplate && token(misfit) === "." && opens(misfit),
    hint: (misfit) => {
      const inner = /^[^{}]*/.exec(misfit.input.slice(misfit.start))?.[0].trim() ?? "";
      return `to keep braces as text write {{ "{{${inner}}}" }}`;
    },
  },
  {
    applies: (misfit) => misfit.inTemplate && /\{\{\{[^{}]*$/.test(before(misfit)),
    hint: () => "{{{ begins a map; for a brace as text put a space after it: { {{x}} }",
  },
  {
    applies: (misfit) => !misfit.inTemplate && misfit.input.includes("{{") && isBrace(misfit),
    hint: () => "this field is an expression already: leave out {{ and }}",
  },
  {
    applies: (misfit) => token(misfit) === ":" && /\{\s*["'`\w$]+\s*$/.test(before(misfit)),
    hint: () => "put parentheses around a map here: ({name: value})",
  },
  {
    applies: (misfit) => token(misfit) === ".",
    hint: () => ".name is a field of the item, inside filter(list, .name == 1) and the like",
  },
  {
    applies: (misfit) => /^["']/.test(token(misfit)) && /["']$/.test(before(misfit)),
    hint: (misfit) => `for a quote inside a string write \\${token(misfit).charAt(0)}`,
  },
  {
    applies: (misfit) => /^[\p{L}_]/u.test(token(misfit)) && /["']$/.test(before(misfit)),
    hint: (misfit) => `for a quote inside a string write \\${before(misfit).slice(-1)}`,
  },
  {
    applies: (misfit) => /^\.\d/.test(token(misfit)),
    hint: (misfit) => `write [${token(misfit).slice(1)}] for an item of a list`,
  },
  {
    applies: (misfit) => /^\d/.test(token(misfit)) && before(misfit).endsWith("?."),
    hint: () => "put a space after the ?",
  },
  {
    applies: (misfit) => token(misfit) === "/",
    hint: () => 'a pattern is a string: text matches "^a+$"',
  },
  {
    applies: (misfit) => token(misfit) === ">" && before(misfit).endsWith("<"),
    hint: () => "use != for unequal",
  },
  {
    applies: (misfit) => token(misfit) === "*" && before(misfit).endsWith("["),
    hint: () => "for a member of every item write map(list, .name)",
  },
  {
    applies: (misfit) => misfit.isBehind && /^(is|exists|eq|ne|[gl]te?)$/i.test(token(misfit)),
    hint: (misfit) =>
      hintForFunction(token(misfit)) ?? 'write value != nil, or type(value) == "string"',
  },
  {
    applies: (misfit) => misfit.isBehind && /^(and|or|not)$/i.test(token(misfit)),
    hint: (misfit) => `write ${token(misfit).toLowerCase()}`,
  },
  {
    applies: (misfit) => misfit.isBehind && /^([\p{L}_$,]|!$)/u.test(token(misfit)),
    hint: () => "an operator is missing here, such as && between conditions",
  },
];

function token({ input, start, end }: Misfit): string {
  return input.slice(start, end);
}

function before({ input, start }: Misfit): string {
  return input.slice(Math.max(0, start - 200), start);
}

function after({ input, end }: Misfit): string {
  return input.slice(end, end + 1);
}

function opens(misfit: Misfit): boolean {
  return before(misfit).trimEnd().endsWith("{{");
}

function isBrace(misfit: Misfit): boolean {
  return token(misfit) === "{" || token(misfit) === "}" || opens(misfit) ||
    before(misfit).includes("{{");
}
