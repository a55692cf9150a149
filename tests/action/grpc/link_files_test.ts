import { assertEquals } from "@std/assert";
import { linkFiles, undefinedTypes } from "../../../src/action/grpc/link_files.ts";
import {
  create,
  FileDescriptorProtoSchema,
  fromBinary,
  fromJson,
  toBinary,
  toJson,
} from "../../../src/action/grpc/protobuf.ts";

const MESSAGE = 11;
const STRING = 9;
const REPEATED = 3;
const OPTIONAL = 1;

/** The files as sent by servers built on protobuf.js: no dependencies and names as written. */
function files() {
  return [
    create(FileDescriptorProtoSchema, {
      name: "service.proto",
      package: "shop.v1",
      syntax: "proto3",
      messageType: [{
        name: "Item",
        field: [
          { name: "first_name", number: 1, label: OPTIONAL, type: STRING },
          { name: "parts", number: 2, label: REPEATED, type: MESSAGE, typeName: "Part" },
          { name: "price", number: 3, label: OPTIONAL, type: MESSAGE, typeName: "money.Price" },
          {
            ...{ name: "made_at", number: 4, label: OPTIONAL, type: MESSAGE },
            typeName: "google.protobuf.Timestamp",
          },
        ],
        nestedType: [{
          name: "Part",
          field: [{ name: "whole", number: 1, label: OPTIONAL, type: MESSAGE, typeName: "Item" }],
        }],
      }],
      service: [{
        name: "Shop",
        method: [{ name: "Get", inputType: "Item", outputType: ".shop.v1.Item" }],
      }],
    }),
    create(FileDescriptorProtoSchema, {
      name: "money.proto",
      package: "shop.money",
      syntax: "proto3",
      messageType: [{
        name: "Price",
        field: [{ name: "price_text", number: 1, label: OPTIONAL, type: STRING }],
      }],
    }),
  ];
}

Deno.test("linkFiles() finds types by relative names and adds JSON names and dependencies", () => {
  const types = linkFiles(files());
  const { input, output } = types.getService("shop.v1.Shop")!.method.get!;
  assertEquals(input, output);
  const item = {
    firstName: "tea",
    parts: [{ whole: { firstName: "leaf" } }],
    price: { priceText: "4.50" },
    madeAt: "2026-01-02T03:04:05Z",
  };
  const bytes = toBinary(input, fromJson(input, item));
  assertEquals(toJson(input, fromBinary(input, bytes)), item);
});

Deno.test("undefinedTypes() names what no file defines; standard types are always there", () => {
  assertEquals(undefinedTypes(files()), []);
  assertEquals(undefinedTypes(files().slice(0, 1)), ["money.Price"]);
});
