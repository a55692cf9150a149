/** The library for messages of Protocol Buffers, which is imported here alone. */
import type { FileDescriptorProto } from "@bufbuild/protobuf/wkt";

export const {
  create,
  createFileRegistry,
  createRegistry,
  fromBinary,
  fromJson,
  toJson,
} = await import("@bufbuild/protobuf");

const types = await import("@bufbuild/protobuf/wkt");

export const {
  AnySchema,
  Edition,
  FeatureSet_EnumType: EnumType,
  FeatureSet_FieldPresence: Presence,
  FeatureSet_MessageEncoding: MessageEncoding,
  FeatureSet_RepeatedFieldEncoding: RepeatedEncoding,
  FieldDescriptorProto_Label: Label,
  FieldDescriptorProto_Type: FieldType,
  FileDescriptorProtoSchema,
  FileDescriptorSetSchema,
} = types;

/** The files of types that come with Protocol Buffers, `google/protobuf/timestamp.proto`. */
export const STANDARD_FILES: readonly FileDescriptorProto[] = [
  types.file_google_protobuf_any,
  types.file_google_protobuf_descriptor,
  types.file_google_protobuf_duration,
  types.file_google_protobuf_empty,
  types.file_google_protobuf_field_mask,
  types.file_google_protobuf_source_context,
  types.file_google_protobuf_struct,
  types.file_google_protobuf_timestamp,
  types.file_google_protobuf_type,
  types.file_google_protobuf_wrappers,
].map(({ proto }) => proto);

export type {
  DescMessage,
  DescMethod,
  DescMethodStreaming,
  DescService,
  FileRegistry,
  Message,
  MessageInitShape,
  Registry,
} from "@bufbuild/protobuf";
export type {
  DescriptorProto,
  DescriptorProtoSchema,
  FieldDescriptorProto,
  FileDescriptorProto,
} from "@bufbuild/protobuf/wkt";
