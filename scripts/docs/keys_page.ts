import { NAMES, type RuleForm, sentence, tablesOf, typeOfKey } from "../../src/workflow/names.ts";
import { hintForKey, otherKeys } from "../../src/base/other_tools.ts";
import { SUITE } from "../../src/suite/decode_suite.ts";
import { WORKFLOW } from "../../src/workflow/decode/key_tree.ts";
import { IN_STEP } from "../../src/workflow/decode/expressions.ts";
import type { Parameter } from "../../src/action/parameter.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** The keys of workflow files. */
export function makeKeysPage(): Page {
  return makePage("keys.md", "src/workflow/decode/", [
    "# Keys",
    "",
    "Every key of a workflow and of a suite, with its type, default and meaning;",
    "[The file format](file-format.md) has an example. A key in bold is required. The last column",
    "lists the names that [expressions](expressions.md) in the value can read; “all” means",
    `${IN_STEP.known!.map(code).join(", ")}. In a job with \`matrix\`, all other keys also see`,
    "`matrix`.",
    "",
    ...tablesOf(WORKFLOW.form).flatMap(section),
    "## Job file",
    "",
    "The top-level keys of a job file, which a step runs with [embedded](actions/embedded.md), are",
    "those of a job. `id`, `needs`, `when`, `repeat` and `matrix` have no effect there.",
    "",
    ...tablesOf(SUITE.form).flatMap(section),
    "## Keys of other tools",
    "",
    "These keys are not supported; the message names what to use instead.",
    "",
    ...table(
      ["Key", "Of", "Message"],
      [
        ...tablesOf(WORKFLOW.form).flatMap(({ key }) => otherKeysOf(key?.what ?? "")),
        ...otherKeysOf("a job file", "a job"),
      ],
    ),
    "",
    "## Names in expressions",
    "",
    "What expressions see beside functions; `*` is any name. [Expressions](expressions.md) describes",
    "the language, and the page of each action the fields of `res`.",
    "",
    ...table(
      ["Name", "Type", "Meaning"],
      Object.entries(NAMES).map(([name, { type, summary }]) => [
        code(name),
        type,
        `${plain(sentence(summary))}.`,
      ]),
    ),
  ]);
}

function section({ fields = [], key: { title } = {} }: RuleForm): string[] {
  const rows = fields.map((field) => [
    field.required ? `**${code(field.name)}**` : code(field.name),
    typeOfKey(field, code),
    field.default === undefined ? "" : code(field.default),
    plain(field.summary),
    names(field),
  ]);
  return [`## ${title}`, "", ...table(["Key", "Type", "Default", "Meaning", "Sees"], rows), ""];
}

function names({ key: { names } = {} }: Parameter): string {
  if (!names) return "";
  if (names === IN_STEP) return "all";
  const { known, empty = {} } = names;
  if (!known) return "environment variables";
  return known.filter((name) => !Object.hasOwn(empty, name)).map(code).join(" ");
}

/** The rows of the keys that `what` may have been given, without those of which `base` says the same. */
function otherKeysOf(what: string, base = ""): string[][] {
  return [...new Set(otherKeys(what))].flatMap((key) => {
    const hint = hintForKey(what, key) ?? "";
    return hint === hintForKey(base, key) ? [] : [[code(key), what, plain(hint)]];
  });
}
