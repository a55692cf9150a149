import { isTemplate } from "../../../../expr/template/template_data.ts";
import { isDict } from "../../../../base/value/value.ts";
import type { Dict, ParameterProblem, Value } from "../../../../action/action.ts";
import { isGiven } from "../../../../action/parameters.ts";
import { BODIES } from "../http_syntax.ts";
import { compressionProblem, COMPRESSIONS, PART_HINT, partProblem } from "./upload.ts";

/** Problems of the body of an http step beyond its types. */
export function checkBodies(params: Dict): ParameterProblem[] {
  const [key, ...others] = BODIES.filter((name) => isGiven(params, name));
  return [
    ...others.map((other): ParameterProblem => ({
      path: [other],
      at: "key",
      message: `http step has two bodies, "${key}" and "${other}"`,
      hint: "keep one of them",
    })),
    ...checkCompression(params, key !== undefined),
    ...checkMultipart(params),
    ...checkGraphql(params),
  ];
}

function checkCompression(params: Dict, hasBody: boolean): ParameterProblem[] {
  const { compress } = params;
  if (!isGiven(params, "compress") || typeof compress !== "string") return [];
  if (!isTemplate(compress) && !COMPRESSIONS.some((name) => name === compress)) {
    return [{ path: ["compress"], message: compressionProblem(compress) }];
  }
  if (hasBody) return [];
  const message = '"compress" without a body';
  const hint = `a body is given by ${BODIES.join(", ")}`;
  return [{ path: ["compress"], at: "key", message, hint }];
}

function checkMultipart({ multipart }: Dict): ParameterProblem[] {
  if (!isDict(multipart)) return [];
  return Object.entries(multipart).flatMap(([name, value]) =>
    [value].flat().flatMap((part: Value): ParameterProblem[] => {
      const message = partProblem(name, part);
      return message === undefined ? [] : [{ path: ["multipart", name], message, hint: PART_HINT }];
    })
  );
}

function checkGraphql({ graphql }: Dict): ParameterProblem[] {
  if (!isDict(graphql)) return [];
  const sources = ["query", "file"].filter((name) => isGiven(graphql, name));
  if (sources.length === 1) return [];
  const message = sources.length === 0
    ? '"graphql" needs "query" or "file"'
    : '"graphql" has "query" and "file", which cannot be combined';
  return [{ path: ["graphql"], message, hint: "a file contains the query" }];
}
