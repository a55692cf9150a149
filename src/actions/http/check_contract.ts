import { decodeText } from "../../base/text/decode_text.ts";
import { LoadError, StepError } from "../../base/errors.ts";
import {
  type Contract,
  type ContractExchange,
  type FoundViolation,
  openContract,
} from "../../openapi/contract/contract.ts";
import { findExchangedSecrets } from "../../secrets/find_secrets.ts";
import { dictOf, isDict, type Value } from "../../base/value/value.ts";
import type { ActionContext, ActionResult, ContractViolation, Dict } from "../../action/action.ts";
import { excerpt } from "../../action/received.ts";
import { contractsOf } from "../../action/resource_scope.ts";
import { readablePath } from "../../action/step_file.ts";
import type { ApiSettings } from "./http_params.ts";
import { methodKeys } from "./request/http_syntax.ts";

/** Adds the violations of a description to a result. */
type CheckResult = (result: ActionResult) => ActionResult | Promise<ActionResult>;

/** Reads the description that the step names, or else the run; `params` are those of the step. */
export async function openCheck(
  ofStep: ApiSettings | false | undefined,
  params: Dict,
  context: ActionContext,
): Promise<CheckResult> {
  const file = context.openapi;
  const ofRun = file === undefined
    ? undefined
    : { file, request: "fail", response: "fail" } as const;
  const settings = ofStep ?? ofRun;
  if (!settings) return (result) => result;
  const contract = await contractOf(settings, settings === ofStep, context);
  return (result) => checkResult(result, params, settings, contract, context);
}

async function checkResult(
  result: ActionResult,
  params: Dict,
  settings: ApiSettings,
  contract: Contract,
  context: ActionContext,
): Promise<ActionResult> {
  const found = await contract.check(exchangeOf(result, params));
  for (const fault of await contract.takeFaults()) context.warn(fault);
  const violations: ContractViolation[] = [];
  for (const violation of found) {
    const check = settings[violation.side];
    const message = messageOf(violation, result, context);
    if (check === "warn") context.warn(message);
    if (check === "fail") violations.push({ ...toViolation(violation, params), message });
  }
  return settings.response === "fail" || violations.length > 0 ? { ...result, violations } : result;
}

/** More of a value says nothing more. */
const WIDEST = 60;

function messageOf(
  { message, value = "" }: FoundViolation,
  { req, res }: ActionResult,
  { secrets }: ActionContext,
): string {
  if (value.length <= WIDEST) return message;
  // The value does not say by which name it is secret.
  for (const data of [req, res]) {
    findExchangedSecrets(data, (secret, shortest) => secrets.add(secret, shortest));
  }
  return message.replace(value, () => excerpt(value, secrets, WIDEST - 1));
}

function problem(message: string, hint?: string): StepError {
  return new StepError(`cannot run http: ${message}`, hint, { parameter: "openapi" });
}

/** The contract of a description, which a run reads once. */
async function contractOf(
  { file, base_path: base }: ApiSettings,
  isOfStep: boolean,
  context: ActionContext,
): Promise<Contract> {
  const named = { path: file, what: "the OpenAPI description", parameter: "openapi" };
  const path = isOfStep ? await readablePath(named, context) : file;
  const contracts = contractsOf(context.scope.run);
  const key = JSON.stringify([path, base ?? null]);
  let opening = contracts.get(key);
  if (!opening) contracts.set(key, opening = open(path, base, context));
  return await opening as Contract;
}

async function open(
  path: string,
  base: string | undefined,
  context: ActionContext,
): Promise<Contract> {
  const read = async (name: string) => ({ name, text: await readPermitted(name, context) });
  try {
    return await openContract(path, base, read);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    const [first] = error.diagnostics;
    const detail = first === undefined ? "" : `: ${first.message}`;
    throw new StepError(
      `cannot use the OpenAPI description: ${error.message}${detail}`,
      error.hint,
      {
        parameter: "openapi",
      },
    );
  }
}

async function readPermitted(path: string, context: ActionContext): Promise<string> {
  const { host, permissions } = context;
  const file = { path, what: "the OpenAPI description", parameter: "openapi" };
  const { fileProblem } = await import("../../action/step_file.ts");
  if (permissions?.read) {
    const { pathDenial } = await import("../../action/permissions/rules.ts");
    const refusal = await pathDenial(permissions, "read", path, host);
    if (refusal) {
      throw problem(`cannot read ${file.what} "${path}": ${refusal.message}`, refusal.hint);
    }
  }
  try {
    return decodeText(await host.files.read(path));
  } catch (error) {
    throw fileProblem(error, file, path);
  }
}

function exchangeOf({ req, res }: ActionResult, params: Dict): ContractExchange {
  const requestHeaders = lowerCase(req.headers);
  const { redirects } = res;
  const [redirect] = Array.isArray(redirects) ? redirects : [];
  const sent = typeof req.body === "string" ? req.body : "";
  const length = Number(requestHeaders.get("content-length") ?? 0);
  const hasRequestBody = sent !== "" || length > 0 || requestHeaders.has("transfer-encoding");
  const body = typeof res.rawbody === "string" ? res.rawbody : res.body;
  const isText = typeof body === "string" && res.filepath === undefined;
  return {
    method: String(req.method),
    url: new URL(String(req.url)),
    basePath: basePathOf(params),
    requestHeaders,
    requestBody: sent === "" ? undefined : sent,
    hasRequestBody,
    // After a redirect, the response belongs to another request.
    ...isDict(redirect)
      ? { code: Number(redirect.code), isStatusOnly: true }
      : { code: Number(res.code), isStatusOnly: false },
    responseHeaders: lowerCase(res.headers),
    responseBody: isText ? body : undefined,
    responseSize: Number(res.size ?? (isText ? body.length : 1)),
  };
}

/** The path of the base URL: `/v1` for `url: http://host/v1` and `get: /items`. */
function basePathOf(params: Dict): string | undefined {
  const [method = ""] = methodKeys(params);
  const { url, [method]: target } = params;
  const isApart = method !== "method" && typeof target === "string" && target.startsWith("/");
  return isApart && typeof url === "string" ? URL.parse(url)?.pathname : undefined;
}

function lowerCase(headers: Value | undefined): Map<string, string> {
  const entries = Object.entries(dictOf(headers));
  return new Map(entries.map(([name, value]) => [name.toLowerCase(), [value].flat().join(", ")]));
}

/** Where a violation is in the parameters of its step. */
function toViolation(
  { hint, side, part, path, sides }: FoundViolation,
  params: Dict,
): Omit<ContractViolation, "message"> {
  const [method = "method"] = methodKeys(params);
  return {
    hint,
    sides,
    path: side === "response" ? [method] : parameterPath(params, method, part, path),
  };
}

function parameterPath(
  params: Dict,
  method: string,
  part: FoundViolation["part"],
  path: FoundViolation["path"] = [],
): readonly (string | number)[] {
  const isSet = (name: string) => Object.hasOwn(params, name);
  switch (part) {
    case "body": {
      const key = ["body", "json", "form", "graphql", "multipart"].find(isSet);
      return key === undefined ? [method] : [key, ...path];
    }
    case "query":
      return isSet("query") ? ["query"] : [method];
    case "header":
      return isSet("headers") ? ["headers"] : [method];
    default:
      return [method];
  }
}
