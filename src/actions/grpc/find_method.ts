import { StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Attempt } from "../../action/attempt.ts";
import type { Channel, ServiceTypes } from "./channel.ts";
import type { GrpcParams } from "./grpc_params.ts";
import { KNOWN_TYPES } from "./known_types.ts";
import { joinNames, linkFiles } from "./link_files.ts";
import type { CallOptions } from "./make_call.ts";
import { createRegistry, type DescMethod, type DescService, type Registry } from "./protobuf.ts";
import { reflect } from "./reflection.ts";

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
  attempt: Attempt,
): Promise<ServiceMethod> {
  const { types, service } = params.descriptor_set !== undefined || params.proto?.length
    ? await findInFiles(params, attempt)
    : await findByReflection(channel, params.service!, options, attempt);
  return { types, method: methodOf(types.getService(service)!, params.method!) };
}

async function findInFiles(
  { service: name = "", proto = [], import_paths: directories = [], descriptor_set: set }:
    GrpcParams,
  { context }: Attempt,
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

/** Asks once for each service and channel; who comes while the server is asked waits for that. */
async function findByReflection(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: Attempt,
): Promise<ServiceTypes> {
  const { services } = channel;
  for (;;) {
    const other = services.get(name);
    const asked = other ?? askServer(channel, name, options, attempt);
    services.set(name, asked);
    try {
      const waiting = `asking ${attempt.address} for its services by reflection`;
      return await (other ? attempt.during(waiting, other) : asked);
    } catch (error) {
      if (other && attempt.signal.aborted) throw error;
      if (services.get(name) === asked) services.delete(name);
      // The step that asked may have come to its end, and this one not.
      if (!other) throw error;
    }
  }
}

async function askServer(
  channel: Channel,
  name: string,
  options: CallOptions,
  attempt: Attempt,
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
