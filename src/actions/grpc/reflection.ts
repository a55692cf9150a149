import { StepError } from "../../base/errors.ts";
import type { Attempt } from "../../action/attempt.ts";
import type { Channel } from "./channel.ts";
import { KNOWN_TYPES } from "./known_types.ts";
import { undefinedTypes } from "./link_files.ts";
import { type CallOptions, makeCall, nameOfStatus, NOT_GRPC } from "./make_call.ts";
import {
  create,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  fromBinary,
} from "./protobuf.ts";

/** The result of reflection: the files of a service, or the services that exist instead. */
export type Reflected =
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
export async function reflect(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: Attempt,
): Promise<Reflected> {
  const { ask, services } = await openReflection(channel, options, attempt);
  const matches = services.filter((one) => one === name || one.endsWith(`.${name}`));
  const service = matches.length === 1 ? matches[0]! : name;
  const files = new Map<string, FileDescriptorProto>();
  const asked = new Set<string>();
  for (let questions: Question[] = [{ fileContainingSymbol: service }]; questions.length > 0;) {
    for (const question of questions) asked.add(JSON.stringify(question));
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
    ].filter((question) => !asked.has(JSON.stringify(question)));
  }
  return { files: [...files.values()], service };
}

/** Finds out which version of reflection the server speaks, and its services. */
async function openReflection(
  channel: Channel,
  options: CallOptions,
  attempt: Attempt,
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
