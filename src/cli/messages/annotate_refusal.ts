import { refused } from "../../check/check_file.ts";
import { FINDING_FORMATS } from "../../check/formats.ts";
import type { LoadError } from "../../base/errors.ts";
import { MOST_ANNOTATIONS, pathsFromRoot } from "../../base/text/github_command.ts";
import type { Program } from "../command.ts";
import { maskOf } from "./explain_error.ts";

/** The errors of a workflow as annotations for GitHub Actions. */
export function annotateRefusal(
  name: string,
  refusal: LoadError,
  { host, secrets }: Program,
): string {
  const root = host.env.get("GITHUB_WORKSPACE");
  const format = FINDING_FORMATS.find((one) => one.name === "github")!;
  const text = format.make().file(refused(name, refusal), {
    mask: maskOf(host, secrets, refusal.diagnostics),
    columns: undefined,
    fromRoot: pathsFromRoot(host.files.workingDirectory(), root),
  });
  return text.split(/(?<=\n)/).slice(0, MOST_ANNOTATIONS).join("");
}
