import { StepError } from "../../base/errors.ts";
import type { GrpcResponse } from "./grpc_call.ts";
import { knownType } from "./known_types.ts";
import { undefinedTypes } from "./link_files.ts";
import {
  create,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  fromBinary,
  toBinary,
} from "./protobuf.ts";
import { nameOfStatus } from "./status.ts";

/** Sends messages to a method of the server: `/grpc.reflection.v1.ServerReflection/…`. */
export type Send = (path: string, messages: readonly Uint8Array[]) => Promise<GrpcResponse>;

/** The result of reflection: the files of a service, or the services that exist instead. */
export type Reflected =
  | { readonly files: readonly FileDescriptorProto[]; readonly service: string }
  | { readonly services: readonly string[] };

const UNIMPLEMENTED = 12;

/**
 * Asks a server for the files that define a service, and all that these refer to. The package of
 * the service may be left out where only one service has the name.
 */
export async function reflect(send: Send, address: string, name: string): Promise<Reflected> {
  const { ask, services } = await openReflection(send, address);
  const matches = services.filter((one) => one === name || one.endsWith(`.${name}`));
  const service = matches.length === 1 ? matches[0]! : name;
  const [answer] = await ask([{ fileContainingSymbol: service }]);
  if (!answer || answer.files.length === 0) return { services };
  const files = new Map<string, FileDescriptorProto>();
  const add = (found: readonly FileDescriptorProto[]) => {
    for (const file of found) if (!files.has(file.name)) files.set(file.name, file);
  };
  add(answer.files);
  const asked = new Set<string>();
  for (;;) {
    const all = [...files.values()];
    const questions = [
      ...all.flatMap(({ dependency }) => dependency).filter((one) => !files.has(one))
        .map((one): Question => ({ fileByFilename: one })),
      // Some servers name no dependencies.
      ...undefinedTypes(all).map((one): Question => ({ fileContainingSymbol: one })),
    ].filter((question) => !asked.has(JSON.stringify(question)));
    if (questions.length === 0) return { files: all, service };
    for (const question of questions) asked.add(JSON.stringify(question));
    for (const { files: found } of await ask(questions)) add(found);
  }
}

interface Question {
  readonly fileByFilename?: string;
  readonly fileContainingSymbol?: string;
  readonly listServices?: string;
}

interface ReflectionResponse {
  readonly files: readonly FileDescriptorProto[];
  readonly services: readonly string[];
}

/** Finds out which version of reflection the server speaks. */
async function openReflection(send: Send, address: string) {
  let path = "";
  const ask = async (questions: readonly Question[]): Promise<ReflectionResponse[]> => {
    const type = knownType("grpc.reflection.v1.ServerReflectionRequest");
    const messages = questions.map((question) => toBinary(type, create(type, { ...question })));
    const { status, messages: replies } = await send(path, messages);
    if (status.code === 0) return replies.map(readReply);
    throw new ReflectionError(status.code, status.message);
  };
  for (const version of ["v1", "v1alpha"]) {
    path = `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`;
    try {
      const [list] = await ask([{ listServices: "*" }]);
      return { ask, services: list?.services ?? [] };
    } catch (error) {
      if (!(error instanceof ReflectionError)) throw error;
      if (error.code !== UNIMPLEMENTED) {
        throw new StepError(
          `cannot read the services of ${address} by reflection: ${error.message} (${
            nameOfStatus(error.code)
          })`,
          error.message.startsWith("the response is not one of gRPC")
            ? "does a gRPC server listen there?"
            : "files say the same: proto: service.proto",
        );
      }
    }
  }
  throw new StepError(
    `${address} does not offer server reflection (UNIMPLEMENTED)`,
    "switch it on in the server, or name the files: proto: service.proto",
  );
}

/** The server refused reflection. */
class ReflectionError extends Error {
  constructor(readonly code: number, message: string) {
    super(message);
  }
}

/** A reply as decoded by the library. */
interface ReflectionMessage {
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Uint8Array[] };
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
}

function readReply(bytes: Uint8Array): ReflectionResponse {
  const type = knownType("grpc.reflection.v1.ServerReflectionResponse");
  const reply = fromBinary(type, bytes) as ReflectionMessage;
  return {
    files: (reply.fileDescriptorResponse?.fileDescriptorProto ?? [])
      .map((file) => fromBinary(FileDescriptorProtoSchema, file)),
    services: (reply.listServicesResponse?.service ?? []).map(({ name }) => name),
  };
}
