import {
  create,
  createFileRegistry,
  type DescriptorProto,
  type FieldDescriptorProto,
  FieldType,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
  type FileRegistry,
  Label,
  STANDARD_FILES,
} from "./protobuf.ts";

/**
 * Makes a registry of files, adding the standard ones. Servers leave out what the library needs:
 * those in C++ and Python the JSON names, those built on protobuf.js the dependencies and the
 * packages of types. `undefinedTypes` says beforehand whether all types are there.
 */
export function linkFiles(files: readonly FileDescriptorProto[]): FileRegistry {
  const all = withStandardFiles(files);
  const owners = ownersOf(all);
  const visited = new Set<FileDescriptorProto>();
  // Each file comes after those that it depends on.
  const ordered: FileDescriptorProto[] = [];
  const visit = (file: FileDescriptorProto) => {
    if (visited.has(file)) return;
    visited.add(file);
    for (const reference of referencesOf(file)) {
      const name = resolveName(reference, owners);
      if (name === undefined) continue;
      reference.replace(name);
      visit(owners.get(name)!);
    }
    for (const [, field] of fieldsOf(file)) field.jsonName ||= jsonNameOf(field.name);
    // They may be incomplete, or name files that nothing is needed of.
    file.dependency = [];
    ordered.push(file);
  };
  all.forEach(visit);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: ordered }));
}

/** The types that files refer to and none defines, by full name. */
export function undefinedTypes(files: readonly FileDescriptorProto[]): string[] {
  const all = withStandardFiles(files);
  const owners = ownersOf(all);
  const names = all.flatMap((file) => [...referencesOf(file)])
    .filter((reference) => resolveName(reference, owners) === undefined)
    .map(({ name }) => name.replace(/^\./, ""));
  return [...new Set(names)];
}

/** The name of a field in JSON, where its file does not say. */
export function jsonNameOf(name: string): string {
  return name.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase());
}

function withStandardFiles(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const names = new Set(files.map(({ name }) => name));
  return [...STANDARD_FILES.filter(({ name }) => !names.has(name)), ...files];
}

/** What names a type in a file. */
interface Reference {
  readonly name: string;
  /** The message or package around it, to which a relative name belongs. */
  readonly scope: string;
  replace(name: string): void;
}

function* referencesOf(file: FileDescriptorProto): Generator<Reference> {
  for (const [scope, field] of fieldsOf(file)) {
    const { typeName, extendee } = field;
    if (typeName) {
      yield { name: typeName, scope, replace: (name) => void (field.typeName = name) };
    }
    if (extendee) {
      yield { name: extendee, scope, replace: (name) => void (field.extendee = name) };
    }
  }
  const scope = file.package;
  for (const method of file.service.flatMap(({ method }) => method)) {
    yield { name: method.inputType, scope, replace: (name) => void (method.inputType = name) };
    yield { name: method.outputType, scope, replace: (name) => void (method.outputType = name) };
  }
}

/** The full name of a type, with a dot before it: `.demo.v1.User`. */
function resolveName(
  { name, scope }: Reference,
  owners: ReadonlyMap<string, FileDescriptorProto>,
): string | undefined {
  if (name.startsWith(".")) return owners.has(name) ? name : undefined;
  for (let around = scope;; around = around.replace(/\.?[^.]*$/, "")) {
    const full = `.${joinNames(around, name)}`;
    if (owners.has(full)) return full;
    if (around === "") return undefined;
  }
}

/** The file that defines a type, by the full name of the type with a dot before it. */
function ownersOf(files: readonly FileDescriptorProto[]): Map<string, FileDescriptorProto> {
  const owners = new Map<string, FileDescriptorProto>();
  for (const file of files) {
    for (const { name } of file.enumType) owners.set(`.${joinNames(file.package, name)}`, file);
    for (const [name, message] of messagesOf(file)) {
      owners.set(`.${name}`, file);
      for (const { name: inner } of message.enumType) owners.set(`.${name}.${inner}`, file);
    }
  }
  return owners;
}

/** All messages of a file with their full names, nested ones too. */
function* messagesOf(file: FileDescriptorProto): Generator<readonly [string, DescriptorProto]> {
  const pending = file.messageType.map((message) => [file.package, message] as const);
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [around, message] = next;
    const name = joinNames(around, message.name);
    yield [name, message];
    pending.push(...message.nestedType.map((nested) => [name, nested] as const));
  }
}

/** All fields of a file, each with the message or package around it. */
function fieldsOf(file: FileDescriptorProto): (readonly [string, FieldDescriptorProto])[] {
  return [
    ...[...messagesOf(file)].flatMap(([name, { field, extension }]) =>
      [...field, ...extension].map((one) => [name, one] as const)
    ),
    ...file.extension.map((one) => [file.package, one] as const),
  ];
}

/** The full name of a type in a package or a message. */
export function joinNames(around: string, name: string): string {
  return around === "" ? name : `${around}.${name}`;
}

/**
 * Messages that every gRPC client has to know, each with its fields as they are sent: reflection,
 * the health check, and the details of a status.
 */
const MESSAGES: Readonly<Record<string, string>> = {
  "grpc.reflection.v1.ServerReflectionRequest":
    "string file_by_filename = 3, string file_containing_symbol = 4, string list_services = 7",
  "grpc.reflection.v1.ServerReflectionResponse":
    "FileDescriptorResponse file_descriptor_response = 4, ListServiceResponse list_services_response = 6, ErrorResponse error_response = 7",
  "grpc.reflection.v1.FileDescriptorResponse": "repeated bytes file_descriptor_proto = 1",
  "grpc.reflection.v1.ListServiceResponse": "repeated ServiceResponse service = 1",
  "grpc.reflection.v1.ServiceResponse": "string name = 1",
  "grpc.reflection.v1.ErrorResponse": "int32 error_code = 1, string error_message = 2",

  "grpc.health.v1.HealthCheckRequest": "string service = 1",
  "grpc.health.v1.HealthCheckResponse": "int32 status = 1",

  "google.rpc.ErrorInfo": "string reason = 1, string domain = 2, map<string,string> metadata = 3",
  "google.rpc.RetryInfo": "google.protobuf.Duration retry_delay = 1",
  "google.rpc.DebugInfo": "repeated string stack_entries = 1, string detail = 2",
  "google.rpc.QuotaFailure": "repeated QuotaViolation violations = 1",
  "google.rpc.QuotaViolation": "string subject = 1, string description = 2",
  "google.rpc.PreconditionFailure": "repeated PreconditionViolation violations = 1",
  "google.rpc.PreconditionViolation": "string type = 1, string subject = 2, string description = 3",
  "google.rpc.BadRequest": "repeated FieldViolation field_violations = 1",
  "google.rpc.FieldViolation":
    "string field = 1, string description = 2, string reason = 3, LocalizedMessage localized_message = 4",
  "google.rpc.RequestInfo": "string request_id = 1, string serving_data = 2",
  "google.rpc.ResourceInfo":
    "string resource_type = 1, string resource_name = 2, string owner = 3, string description = 4",
  "google.rpc.Help": "repeated HelpLink links = 1",
  "google.rpc.HelpLink": "string description = 1, string url = 2",
  "google.rpc.LocalizedMessage": "string locale = 1, string message = 2",
};

const REFLECTION = [
  "ServerReflectionInfo",
  ".grpc.reflection.v1.ServerReflectionRequest",
  ".grpc.reflection.v1.ServerReflectionResponse",
  true,
] as const;

/** The only method of each service: its name, what it takes and returns, and if both are streams. */
const SERVICES: Readonly<Record<string, readonly [string, string, string, boolean]>> = {
  "grpc.health.v1.Health": ["Check", "HealthCheckRequest", "HealthCheckResponse", false],
  "grpc.reflection.v1.ServerReflection": REFLECTION,
  // It sends the same messages as its successor.
  "grpc.reflection.v1alpha.ServerReflection": REFLECTION,
};

/** The message of the entries of the only map. */
const ENTRY = "MetadataEntry";

function makeFiles(): FileDescriptorProto[] {
  const names = [...Object.keys(MESSAGES), ...Object.keys(SERVICES)];
  const entry = {
    name: ENTRY,
    options: { mapEntry: true },
    field: [makeField("string key = 1"), makeField("string value = 2")],
  };
  const packageOf = (name: string) => name.slice(0, name.lastIndexOf("."));
  return [...new Set(names.map(packageOf))].map((pkg) => {
    const namesIn = (table: object) => Object.keys(table).filter((name) => packageOf(name) === pkg);
    return create(FileDescriptorProtoSchema, {
      name: `${pkg.replaceAll(".", "/")}.proto`,
      package: pkg,
      syntax: "proto3",
      messageType: namesIn(MESSAGES).map((name) => {
        const fields = MESSAGES[name]!.split(", ");
        return {
          name: name.slice(pkg.length + 1),
          field: fields.map(makeField),
          nestedType: fields.some((field) => field.startsWith("map")) ? [entry] : [],
        };
      }),
      service: namesIn(SERVICES).map((name) => {
        const [method, inputType, outputType, isStream] = SERVICES[name]!;
        const streams = { clientStreaming: isStream, serverStreaming: isStream };
        return {
          name: name.slice(pkg.length + 1),
          method: [{ name: method, inputType, outputType, ...streams }],
        };
      }),
    });
  });
}

function makeField(text: string) {
  const [, repeated, type = "", name, number] = /^(repeated )?(\S+) (\w+) = (\d+)$/.exec(text)!;
  const isMap = type.startsWith("map");
  const scalar = FieldType[type.toUpperCase() as keyof typeof FieldType];
  return {
    name,
    number: Number(number),
    label: repeated || isMap ? Label.REPEATED : Label.OPTIONAL,
    type: scalar ?? FieldType.MESSAGE,
    typeName: scalar ? "" : isMap ? ENTRY : type,
  };
}

/** The descriptors of these messages and services. */
export const KNOWN_TYPES = linkFiles(makeFiles());
