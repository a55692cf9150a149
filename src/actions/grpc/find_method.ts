import { StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { ActionContext } from "../../action/action.ts";
import { placeOf } from "../../action/net/endpoint.ts";
import { type GrpcLink, type ServiceTypes, share } from "./link.ts";
import { linkFiles } from "./link_files.ts";
import type { DescMethod, DescService } from "./protobuf.ts";
import type { ProtoFiles } from "./read_grpc_request.ts";
import { reflect, type Send } from "./reflection.ts";

/** A method with the types of its messages, and of all that they refer to. */
export interface FoundMethod {
  readonly method: DescMethod;
  readonly types: ServiceTypes["types"];
}

/** Finds a method by the names that a step gives, in files or by asking the server. */
export async function findMethod(
  link: GrpcLink,
  names: { readonly service: string; readonly method: string },
  files: ProtoFiles | undefined,
  send: Send,
  context: ActionContext,
): Promise<FoundMethod> {
  const { types, service } = files
    ? await findInFiles(files, names.service, context)
    : await findByReflection(link, names.service, send, context);
  const found = types.getService(service)!;
  return { method: methodOf(found, names.method), types };
}

async function findInFiles(
  files: ProtoFiles,
  name: string,
  context: ActionContext,
): Promise<ServiceTypes> {
  // Steps may be in different files, to which the paths are relative.
  const paths = "proto" in files ? [...files.proto, ...files.directories] : [files.descriptorSet];
  const places = await Promise.all(paths.map((path) => context.resolvePath(path)));
  const types = await context.scope.run.resource(
    `grpc:types:${JSON.stringify([places, "proto" in files && files.proto.length])}`,
    async () => {
      const { readDescriptorSet, readProtoFiles } = await import("./proto_files.ts");
      return linkFiles(
        "proto" in files
          ? await readProtoFiles(files.proto, files.directories, context)
          : await readDescriptorSet(files.descriptorSet, context),
      );
    },
  );
  const services = [...types].filter(({ kind }) => kind === "service")
    .map((one) => (one as DescService).typeName);
  const matches = services.filter((one) => one === name || one.endsWith(`.${name}`));
  if (matches.length === 1) return { types, service: matches[0]! };
  const parameter = "proto" in files ? "proto" : "descriptor_set";
  throw unknownService(name, services, `in "${parameter}"`);
}

async function findByReflection(
  link: GrpcLink,
  name: string,
  send: Send,
  context: ActionContext,
): Promise<ServiceTypes> {
  let shared = link.services.get(name);
  if (!shared) link.services.set(name, shared = { current: undefined });
  const ask = async () => {
    const found = await reflect(send, placeOf(link.endpoint), name);
    if ("services" in found) {
      throw unknownService(name, found.services, `at ${placeOf(link.endpoint)}`);
    }
    try {
      const types = linkFiles(found.files);
      if (types.getService(found.service)) return { types, service: found.service };
      throw new Error(`${found.service} is not in the files that were sent`);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      throw new StepError(
        `cannot use the descriptors that ${placeOf(link.endpoint)} sent by reflection: ${message}`,
        "name the files instead: proto: service.proto",
      );
    }
  };
  const activity = `asking ${placeOf(link.endpoint)} for its services by reflection`;
  return await share(shared, ask, activity, context);
}

function unknownService(name: string, services: readonly string[], where: string): StepError {
  const offered = services.filter((one) => !one.startsWith("grpc.reflection."));
  const doubles = services.filter((one) => one.endsWith(`.${name}`));
  const short = new Map(offered.map((one) => [one.slice(one.lastIndexOf(".") + 1), one]));
  const near = didYouMean(name, offered) ?? didYouMean(name, short.keys());
  const message = doubles.length > 1
    ? `"${name}" is the name of several services ${where}`
    : `unknown service "${name}" ${where}`;
  return new StepError(
    `cannot run grpc: ${message}`,
    doubles.length > 1 ? `write one of ${doubles.join(", ")}` : near ??
      (offered.length === 0 ? "there are no services" : `there are ${offered.join(", ")}`),
    { parameter: "service" },
  );
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
