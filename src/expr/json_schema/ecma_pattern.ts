import { translateEcma } from "../evaluate/regex.ts";

/** White space of ECMAScript, as a part of a class; that of RE2 is ASCII alone. */
const SPACE = "\\t-\\r\\x{feff}\\p{Z}";

/** General categories of Unicode by their long names, which RE2 does not know. */
const CATEGORIES: Readonly<Record<string, string>> = {
  ...{ Letter: "L", Cased_Letter: "LC", Uppercase_Letter: "Lu", Lowercase_Letter: "Ll" },
  ...{ Titlecase_Letter: "Lt", Modifier_Letter: "Lm", Other_Letter: "Lo", Mark: "M" },
  ...{ Nonspacing_Mark: "Mn", Spacing_Mark: "Mc", Enclosing_Mark: "Me", Number: "N" },
  ...{ Decimal_Number: "Nd", digit: "Nd", Letter_Number: "Nl", Other_Number: "No" },
  ...{ Punctuation: "P", punct: "P", Connector_Punctuation: "Pc", Dash_Punctuation: "Pd" },
  ...{ Open_Punctuation: "Ps", Close_Punctuation: "Pe", Initial_Punctuation: "Pi" },
  ...{ Final_Punctuation: "Pf", Other_Punctuation: "Po", Symbol: "S", Math_Symbol: "Sm" },
  ...{ Currency_Symbol: "Sc", Modifier_Symbol: "Sk", Other_Symbol: "So", Separator: "Z" },
  ...{ Space_Separator: "Zs", Line_Separator: "Zl", Paragraph_Separator: "Zp", Other: "C" },
  ...{ Control: "Cc", Format: "Cf", Surrogate: "Cs", Private_Use: "Co", Unassigned: "Cn" },
};

/** A pattern of ECMAScript, as JSON Schema has them, for RE2; the engine must be loaded. */
export function patternForRe2(pattern: string): string {
  let isInClass = false;
  const plain = pattern.replace(/\\([pP])\{([^}]*)\}|\\?./gsu, (text, sign, name) => {
    if (sign !== undefined) return `\\${sign}{${categoryOf(name)}}`;
    switch (text) {
      case "[":
        isInClass = true;
        break;
      case "]":
        isInClass = false;
        break;
      case "\\s":
        return isInClass ? SPACE : `[${SPACE}]`;
      case "\\S":
        // A class cannot hold the complement of another one; that of ASCII is close to it.
        return isInClass ? text : `[^${SPACE}]`;
      case "\\b":
        return isInClass ? "\\x08" : text;
    }
    return text;
  });
  return translateEcma(plain);
}

/** `L` for `Letter` and `General_Category=Letter`, `Greek` for `Script=Greek`. */
function categoryOf(name: string): string {
  const value = name.replace(/^(?:General_Category|gc|Script|sc|Script_Extensions|scx)=/, "");
  return Object.hasOwn(CATEGORIES, value) ? CATEGORIES[value]! : value;
}
