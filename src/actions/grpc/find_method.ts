import { undefinedTypes } from "./link_files.ts";
import { StepError } from "../../base/errors.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { Channel, ServiceTypes } from "./channel.ts";
import type { GrpcParams } from "./grpc_params.ts";
import { joinNames, KNOWN_TYPES, linkFiles } from "./link_files.ts";
import {
  create,
  createRegistry,
  type DescMethod,
  type DescService,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  fromBinary,
  type Registry,
} from "./protobuf.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { type CallOptions, makeCall, nameOfStatus, NOT_GRPC } from "./make_call.ts";

/** A method with the types of its messages, and of all that they refer to. */
export interface ServiceMethod {
  readonly method: DescMethod;
  readonly types: Registry;
}

/** Finds a method by the names that a step gives, in files or by asking the server. */
export async function findMethod(
  channel: Channel,
  params: GrpcParams,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<ServiceMethod> {
  const { types, service } = params.descriptor_set !== undefined || params.proto?.length
    ? await findInFiles(params, attempt)
    : await findByReflection(channel, params.service!, options, attempt);
  return { types, method: methodOf(types.getService(service)!, params.method!) };
}

async function findInFiles(
  { service: name = "", proto = [], import_paths: directories = [], descriptor_set: set }:
    GrpcParams,
  { context }: ActionAttempt,
): Promise<ServiceTypes> {
  // Steps may be in different files, to which the paths are relative.
  const paths = set === undefined ? [...proto, ...directories] : [set];
  const locations = await Promise.all(paths.map((path) => context.resolvePath(path)));
  const { types, services } = await context.scope.run.resource(
    `grpc:types:${JSON.stringify([locations, set === undefined && proto.length])}`,
    async () => {
      const { readDescriptorSet, readProtoFiles } = await import("./proto_files.ts");
      const files = set === undefined
        ? await readProtoFiles(proto, directories, context)
        : await readDescriptorSet(set, context);
      return {
        types: withKnownTypes(files),
        services: files.flatMap(({ package: pkg, service }) =>
          service.map(({ name }) => joinNames(pkg, name))
        ),
      };
    },
  );
  const matches = services.filter((one) => one === name || one.endsWith(`.${name}`));
  if (matches.length === 1) return { types, service: matches[0]! };
  const parameter = set === undefined ? "proto" : "descriptor_set";
  throw unknownService(name, services, `in "${parameter}"`);
}

/** The details of a status may be of types that no file of the service defines. */
function withKnownTypes(files: Parameters<typeof linkFiles>[0]): Registry {
  return createRegistry(KNOWN_TYPES, linkFiles(files));
}

/** Asks once for each service and channel; other steps wait for that answer. */
async function findByReflection(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<ServiceTypes> {
  const { services } = channel;
  for (;;) {
    const other = services.get(name);
    const answer = other ?? askServer(channel, name, options, attempt);
    services.set(name, answer);
    try {
      const waiting = `asking ${attempt.address} for its services by reflection`;
      return await (other ? attempt.during(waiting, other) : answer);
    } catch (error) {
      if (other && attempt.signal.aborted) throw error;
      if (services.get(name) === answer) services.delete(name);
      // The step that asked may have ended before this one.
      if (!other) throw error;
    }
  }
}

async function askServer(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<ServiceTypes> {
  const { address } = attempt;
  const found = await reflect(channel, name, options, attempt);
  if ("services" in found) throw unknownService(name, found.services, `at ${address}`);
  try {
    const types = withKnownTypes(found.files);
    if (types.getService(found.service)) return { types, service: found.service };
    throw new Error(`${found.service} is not in the files that were sent`);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new StepError(
      `cannot use the descriptors that ${address} sent by reflection: ${message}`,
      "name the files instead: proto: service.proto",
    );
  }
}

function unknownService(name: string, services: readonly string[], where: string): StepError {
  const offered = services.filter((one) => !one.startsWith("grpc.reflection."));
  const doubles = services.filter((one) => one.endsWith(`.${name}`));
  const short = offered.map((one) => one.slice(one.lastIndexOf(".") + 1));
  const message = doubles.length > 1
    ? `"${name}" is the name of several services ${where}`
    : `unknown service "${name}" ${where}`;
  const hint = doubles.length > 1
    ? `write one of ${doubles.join(", ")}`
    : didYouMean(name, offered) ?? didYouMean(name, short) ??
      (offered.length === 0 ? "there are no services" : `there are ${offered.join(", ")}`);
  return new StepError(`cannot run grpc: ${message}`, hint, { parameter: "service" });
}

function methodOf(service: DescService, name: string): DescMethod {
  const found = service.methods.find((one) => one.name === name) ??
    service.methods.find((one) => one.localName === name);
  if (found) return found;
  const names = service.methods.map((one) => one.name);
  throw new StepError(
    `cannot run grpc: unknown method "${name}" of ${service.typeName}`,
    didYouMean(name, names) ?? `it has ${names.join(", ")}`,
    { parameter: "method" },
  );
}

/** The result of reflection: the files of a service, or the services that exist instead. */
type Reflected =
  | { readonly files: readonly FileDescriptorProto[]; readonly service: string }
  | { readonly services: readonly string[] };

const UNIMPLEMENTED = 12;

interface Question {
  readonly fileByFilename?: string;
  readonly fileContainingSymbol?: string;
  readonly listServices?: string;
}

/** A response in JSON. */
interface Answer {
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto?: readonly string[] };
  readonly listServicesResponse?: { readonly service?: readonly { readonly name?: string }[] };
}

type Ask = (questions: readonly Question[]) => Promise<readonly Answer[]>;

/**
 * Asks a server for the files that define a service, and all that these refer to. The package of
 * the service may be left out where only one service has the name.
 */
async function reflect(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<Reflected> {
  const { ask, services } = await openReflection(channel, options, attempt);
  const matches = services.filter((one) => one === name || one.endsWith(`.${name}`));
  const service = matches.length === 1 ? matches[0]! : name;
  const files = new Map<string, FileDescriptorProto>();
  const sent = new Set<string>();
  for (let questions: Question[] = [{ fileContainingSymbol: service }]; questions.length > 0;) {
    for (const question of questions) sent.add(JSON.stringify(question));
    for (const { fileDescriptorResponse } of await ask(questions)) {
      for (const bytes of fileDescriptorResponse?.fileDescriptorProto ?? []) {
        const file = fromBinary(FileDescriptorProtoSchema, Uint8Array.fromBase64(bytes));
        if (!files.has(file.name)) files.set(file.name, file);
      }
    }
    if (files.size === 0) return { services };
    const all = [...files.values()];
    questions = [
      ...all.flatMap(({ dependency }) => dependency).filter((one) => !files.has(one))
        .map((one) => ({ fileByFilename: one })),
      // Some servers name no dependencies.
      ...undefinedTypes(all).map((one) => ({ fileContainingSymbol: one })),
    ].filter((question) => !sent.has(JSON.stringify(question)));
  }
  return { files: [...files.values()], service };
}

/** Finds out which version of reflection the server speaks, and its services. */
async function openReflection(
  channel: Channel,
  options: CallOptions,
  attempt: ActionAttempt,
): Promise<{ readonly ask: Ask; readonly services: readonly string[] }> {
  let refused: StepError | undefined;
  // A server that knows only the old one, or a proxy before it, may refuse the other by any code.
  for (const version of ["v1", "v1alpha"]) {
    const service = KNOWN_TYPES.getService(`grpc.reflection.${version}.ServerReflection`)!;
    const method = service.method.serverReflectionInfo!;
    const send = (questions: readonly Question[]) => {
      const messages = questions.map((question) => create(method.input, { ...question }));
      const awaited = "the answer of server reflection";
      const call = { ...options, method, types: KNOWN_TYPES, messages, awaited };
      return makeCall(channel, call, attempt);
    };
    const refusal = (code: number, message: string) =>
      new StepError(
        `cannot read the services of ${attempt.address} by reflection: ${message} (${
          nameOfStatus(code)
        })`,
        message.startsWith(NOT_GRPC)
          ? "does a gRPC server listen there?"
          : "files say the same: proto: service.proto",
      );
    const ask: Ask = async (questions) => {
      const { code, message, messages } = await send(questions);
      if (code !== 0) throw refusal(code, message);
      return messages as readonly Answer[];
    };
    const { code, message, messages } = await send([{ listServices: "*" }]);
    if (code !== 0) {
      if (code !== UNIMPLEMENTED) refused ??= refusal(code, message);
      continue;
    }
    const [list] = messages as readonly Answer[];
    const services = list?.listServicesResponse?.service ?? [];
    return { ask, services: services.map(({ name = "" }) => name) };
  }
  throw refused ?? new StepError(
    `${attempt.address} does not offer server reflection (UNIMPLEMENTED)`,
    "switch it on in the server, or name the files: proto: service.proto",
  );
}
