import { linkFiles } from "./link_files.ts";
import {
  create,
  FieldType,
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  Label,
} from "./protobuf.ts";

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
