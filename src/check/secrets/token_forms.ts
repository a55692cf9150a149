/** Forms in which well-known services write their secrets. Each says what it is. */
const FORMS: readonly { readonly what: string; readonly form: string }[] = [
  { what: "a GitHub token", form: "\\bgh[pousr]_[A-Za-z0-9]{16,}|\\bgithub_pat_\\w{20,}" },
  { what: "a GitLab token", form: "\\bglpat-[\\w-]{16,}" },
  { what: "an AWS access key", form: "\\b(?:AKIA|ASIA)[0-9A-Z]{16}\\b" },
  { what: "a Slack token", form: "\\bxox[abeprs]-[A-Za-z0-9-]{8,}" },
  { what: "a Stripe key", form: "\\b[sr]k_live_[A-Za-z0-9]{8,}" },
  { what: "a Google API key", form: "\\bAIza[\\w-]{35}" },
  { what: "an npm token", form: "\\bnpm_[A-Za-z0-9]{36}\\b" },
  { what: "a JSON Web Token", form: "\\beyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}(?:\\.[\\w-]*)?" },
  {
    what: "a private key",
    form:
      "-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----(?:[\\s\\S]{0,4000}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----)?",
  },
  {
    what: "a bearer token",
    form: "(?<=\\b[Bb]earer {1,3})(?=[A-Za-z._~+/-]*\\d)[\\w.~+/-]{16,}=*",
  },
];

const ONE = new RegExp(FORMS.map(({ form }) => `(${form})`).join("|"));
const EACH = new RegExp(ONE, "g");

/** A cheaper look at whether any form may be in a text. */
const TRACES =
  /gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|xox[abeprs]-|k_live_|AIza|npm_|eyJ|PRIVATE KEY|earer /;

/** A secret in a text, and what it is. */
export interface FoundToken {
  readonly what: string;
  readonly text: string;
  /** Where it begins, in UTF-16 offsets of the text. */
  readonly start: number;
}

/** Whether a text is worth a closer look. */
export function mayHoldTokens(text: string): boolean {
  return TRACES.test(text);
}

/** The first thing in a text that has the form of a secret. */
export function findToken(text: string): FoundToken | undefined {
  if (!mayHoldTokens(text)) return undefined;
  const match = ONE.exec(text);
  const form = match?.slice(1).findIndex((group) => group !== undefined) ?? -1;
  return match ? { what: FORMS[form]!.what, text: match[0], start: match.index } : undefined;
}

/** A text with something else for each secret in it. */
export function replaceTokens(text: string, by: string): string {
  return mayHoldTokens(text) ? text.replace(EACH, by) : text;
}
