import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { readStepFile, readStepText } from "../../action/step_file.ts";
import { jsonNameOf } from "./link_files.ts";
import {
  create,
  type DescriptorProtoSchema,
  Edition,
  EnumType,
  FieldType,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  fromBinary,
  Label,
  MessageEncoding,
  type MessageInitShape,
  Presence,
  RepeatedEncoding,
  STANDARD_FILES,
} from "./protobuf.ts";

const { default: protobuf } = await import("protobufjs");

/** The parser takes the name of a file from here, and marks what the file defines with it. */
const parser = protobuf.parse as { filename?: string | null };

type Root = InstanceType<typeof protobuf.Root>;
type Namespace = InstanceType<typeof protobuf.NamespaceBase>;
type Type = InstanceType<typeof protobuf.Type>;
type Field = InstanceType<typeof protobuf.Field>;
type MapField = InstanceType<typeof protobuf.MapField>;
type OneOf = InstanceType<typeof protobuf.OneOf>;
type Enum = InstanceType<typeof protobuf.Enum>;
type Service = InstanceType<typeof protobuf.Service>;

/** Reads a set of descriptors, as `protoc --include_imports --descriptor_set_out` writes it. */
export async function readDescriptorSet(
  path: string,
  context: ActionContext,
): Promise<readonly FileDescriptorProto[]> {
  const parameter = "descriptor_set";
  const bytes = await readStepFile({ what: "the descriptor set", path, parameter }, context);
  try {
    return fromBinary(FileDescriptorSetSchema, bytes).file;
  } catch {
    throw new StepError(
      `cannot read the descriptor set "${path}": it is not one`,
      "write it with protoc --include_imports --descriptor_set_out=api.pb api.proto",
      { parameter },
    );
  }
}

/** Reads .proto files and those that they import. */
export async function readProtoFiles(
  paths: readonly string[],
  directories: readonly string[],
  context: ActionContext,
): Promise<readonly FileDescriptorProto[]> {
  const root = new protobuf.Root();
  const loaded = new Set<string>();
  const missing: string[] = [];
  const load = async (name: string, text: string, path: string) => {
    loaded.add(name);
    for (const file of parse(root, name, text, path)) {
      if (loaded.has(file)) continue;
      const found = await readImport(file, path, directories, context);
      if (found) await load(file, found.text, found.path);
      else if (!addStandardFile(root, file)) missing.push(file);
      loaded.add(file);
    }
  };
  for (const path of paths) {
    const text = await readText(path, "proto", context);
    await load(nameOf(path, directories), text, path);
  }
  try {
    root.resolveAll();
  } catch (error) {
    throw missingType(error, missing);
  }
  return filesOf(root);
}

/** The name by which other files import a file. */
function nameOf(path: string, directories: readonly string[]): string {
  const around = directories.map((one) => one.replace(/\/*$/, "/"));
  const directory = around.find((one) => path.startsWith(one)) ?? "";
  return path.slice(directory.length).replace(/^(?:\.\/)+/, "");
}

async function readText(path: string, parameter: string, context: ActionContext) {
  const file = { what: "the file", path, parameter };
  return await readStepText(file, context);
}

/** An imported file: in the directories for imports, or beside the file that imports it. */
async function readImport(
  name: string,
  from: string,
  directories: readonly string[],
  context: ActionContext,
): Promise<{ readonly text: string; readonly path: string } | undefined> {
  const beside = from.includes("/") ? from.slice(0, from.lastIndexOf("/")) : ".";
  for (const directory of [...directories, ".", beside]) {
    const path = directory === "." ? name : `${directory.replace(/\/$/, "")}/${name}`;
    try {
      return { text: await readText(path, "proto", context), path };
    } catch (error) {
      if (!(error instanceof StepError) || !error.message.includes("(ENOENT)")) throw error;
    }
  }
  return undefined;
}

/** Parses a file into the root and returns the names of the files that it imports. */
function parse(root: Root, name: string, text: string, path: string): readonly string[] {
  try {
    parser.filename = name;
    const { imports = [], weakImports = [] } = protobuf.parse(text, root, { keepCase: true });
    return [...imports, ...weakImports];
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const line = /\bline (\d+)/.exec(message)?.[1];
    const reason = message.replace(/ \((?:[^()]*, )?line \d+\)$/, "");
    throw new StepError(
      `cannot read "${path}"${line === undefined ? "" : ` line ${line}`}: ${reason}`,
      undefined,
      { parameter: "proto" },
    );
  } finally {
    parser.filename = null;
  }
}

/** Adds a file that comes with Protocol Buffers, which users need not have. */
function addStandardFile(root: Root, name: string): boolean {
  const standard = protobuf.common.get(name);
  if (standard?.nested) root.addJSON(standard.nested);
  return standard !== null || STANDARD_FILES.some((file) => file.name === name);
}

function missingType(error: unknown, missing: readonly string[]): StepError {
  const message = error instanceof Error ? error.message : String(error);
  const [first] = missing;
  return new StepError(
    `cannot use the .proto files: ${message}`,
    first === undefined
      ? undefined
      : `"${first}" was not found: "import_paths" names the directories of imported files`,
    { parameter: "proto" },
  );
}

/** The files that a root was made of, as descriptors. */
function filesOf(root: Root): FileDescriptorProto[] {
  const files = new Map<string, Contents>();
  const visit = (namespace: Namespace, pkg: string) => {
    for (const object of namespace.nestedArray) {
      if (object instanceof protobuf.Namespace && isPackage(object)) {
        visit(object, pkg === "" ? object.name : `${pkg}.${object.name}`);
        continue;
      }
      // Imports without a file come with the library, which has their descriptors.
      if (object.filename === null || object.filename === undefined) continue;
      let file = files.get(object.filename);
      if (!file) files.set(object.filename, file = { pkg, types: [], enums: [], services: [] });
      if (object instanceof protobuf.Type) file.types.push(object);
      else if (object instanceof protobuf.Enum) file.enums.push(object);
      else if (object instanceof protobuf.Service) file.services.push(object);
    }
  };
  visit(root, "");
  return [...files].map(([name, { pkg, types, enums, services }]) =>
    create(FileDescriptorProtoSchema, {
      name,
      package: pkg,
      // Its features state explicitly what older syntaxes imply.
      syntax: "editions",
      edition: Edition.EDITION_2023,
      messageType: types.map(messageOf),
      enumType: enums.map(enumOf),
      service: services.map(serviceOf),
    })
  );
}

interface Contents {
  readonly pkg: string;
  readonly types: Type[];
  readonly enums: Enum[];
  readonly services: Service[];
}

function isPackage(object: unknown): boolean {
  return !(object instanceof protobuf.Type) && !(object instanceof protobuf.Service);
}

function messageOf(type: Type): MessageInitShape<typeof DescriptorProtoSchema> {
  const oneofs = type.oneofsArray.filter((one) => !one.isProto3Optional);
  const nested = type.nestedArray;
  return {
    name: type.name,
    field: type.fieldsArray.map((field) => fieldOf(field, oneofs)),
    oneofDecl: oneofs.map(({ name }) => ({ name })),
    nestedType: [
      ...nested.filter((one) => one instanceof protobuf.Type).map(messageOf),
      ...type.fieldsArray.filter((one) => one instanceof protobuf.MapField).map(entryOf),
    ],
    enumType: nested.filter((one) => one instanceof protobuf.Enum).map(enumOf),
  };
}

function fieldOf(field: Field, oneofs: readonly OneOf[]) {
  const isMap = field instanceof protobuf.MapField;
  const isRepeated = field.repeated || isMap;
  const oneofIndex = field.partOf ? oneofs.indexOf(field.partOf) : -1;
  const presence = field.required
    ? Presence.LEGACY_REQUIRED
    : field.hasPresence
    ? Presence.EXPLICIT
    : Presence.IMPLICIT;
  return {
    name: field.name,
    jsonName: String(field.options?.json_name ?? ""),
    number: field.id,
    label: isRepeated ? Label.REPEATED : Label.OPTIONAL,
    ...typeOf(field),
    ...isMap && {
      type: FieldType.MESSAGE,
      typeName: `${field.parent!.fullName}.${entryName(field)}`,
    },
    ...oneofIndex >= 0 && { oneofIndex },
    options: {
      features: {
        ...!isRepeated && oneofIndex < 0 && { fieldPresence: presence },
        repeatedFieldEncoding: field.packed ? RepeatedEncoding.PACKED : RepeatedEncoding.EXPANDED,
        messageEncoding: field.delimited
          ? MessageEncoding.DELIMITED
          : MessageEncoding.LENGTH_PREFIXED,
      },
    },
  };
}

function typeOf({ type, resolvedType }: Pick<Field, "type" | "resolvedType">) {
  if (!resolvedType) return { type: scalarOf(type) };
  const isEnum = resolvedType instanceof protobuf.Enum;
  return { type: isEnum ? FieldType.ENUM : FieldType.MESSAGE, typeName: resolvedType.fullName };
}

function scalarOf(type: string) {
  return FieldType[type.toUpperCase() as keyof typeof FieldType];
}

/** The message of the entries of a map. */
function entryOf(field: MapField) {
  return {
    name: entryName(field),
    options: { mapEntry: true },
    field: [
      { name: "key", number: 1, label: Label.OPTIONAL, type: scalarOf(field.keyType) },
      { name: "value", number: 2, label: Label.OPTIONAL, ...typeOf(field) },
    ],
  };
}

function entryName({ name }: { readonly name: string }): string {
  return `${jsonNameOf(`_${name}`)}Entry`;
}

function enumOf({ name, values, valuesById }: Enum) {
  return {
    name,
    value: Object.entries(values).map(([name, number]) => ({ name, number })),
    options: {
      allowAlias: Object.keys(values).length > Object.keys(valuesById).length,
      features: { enumType: EnumType.OPEN },
    },
  };
}

function serviceOf({ name, methodsArray }: Service) {
  return {
    name,
    method: methodsArray.map((method) => ({
      name: method.name,
      inputType: method.resolvedRequestType!.fullName,
      outputType: method.resolvedResponseType!.fullName,
      clientStreaming: method.requestStream === true,
      serverStreaming: method.responseStream === true,
    })),
  };
}
