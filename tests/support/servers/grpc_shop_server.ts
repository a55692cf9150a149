/** The process of `grpcShop()`. It prints its port, and a line for each connection and call. */
import { createSecureServer, createServer, type ServerHttp2Stream } from "node:http2";
import { gzipSync } from "node:zlib";
import { fromFileUrl } from "@std/path/from-file-url";
import { Buffer } from "node:buffer";
import { type DescMessage, toBinary } from "@bufbuild/protobuf";
import { AnySchema } from "@bufbuild/protobuf/wkt";
import { KNOWN_TYPES } from "../../../src/actions/grpc/link_files.ts";
import { linkFiles } from "../../../src/actions/grpc/link_files.ts";
import { readProtoFiles } from "../../../src/actions/grpc/proto_files.ts";
import {
  create,
  FileDescriptorProtoSchema,
  fromBinary,
  fromJson,
  toJson,
} from "../../../src/actions/grpc/protobuf.ts";
import { actionContext } from "../action_context.ts";
import type { ShopOptions } from "./grpc_shop.ts";

const options = JSON.parse(Deno.env.get("SHOP")!) as ShopOptions;
const { reflection = "v1" } = options;
const fixtures = fromFileUrl(new URL("../../fixtures/grpc", import.meta.url));
const files = await readProtoFiles([`${fixtures}/shop.proto`], [fixtures], actionContext());
const types = linkFiles(files);
const shop = types.getService("shop.v1.Shop")!;

// deno-lint-ignore no-explicit-any -- Messages as JSON.
type Json = any;

function print(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

class Refusal {
  constructor(readonly code: number, readonly message: string, readonly details: Json[] = []) {}
}

type GrpcResponse = { readonly messages: readonly Json[] } | Refusal;

/** The methods, which turn received messages into responses. */
const METHODS: Readonly<Record<string, (messages: Json[], call: Call) => GrpcResponse | "never">> =
  {
    GetItem([{ id = "", count = 0 }]) {
      if (id === "missing") {
        return new Refusal(5, `there is no item "ü"`, [
          {
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            fieldViolations: [{ field: "id" }],
          },
        ]);
      }
      if (id === "unavailable") return new Refusal(14, "try again");
      const name = id === "large" ? "x".repeat(count) : "Ann's";
      return { messages: [{ id, name, price: { currency: "EUR" }, kind: "BOOK" }] };
    },
    EchoItem: (messages) => ({ messages }),
    ListItems: ([{ count = 0 }]) => ({
      messages: Array.from({ length: count }, (_, at) => ({ id: `${at + 1}` })),
    }),
    AddItems: (messages) => ({ messages: [{ count: messages.length }] }),
    Trade: (messages) => ({ messages: messages.map(({ id }) => ({ id: `${id}!` })) }),
    Wait: () => "never",
  };

interface Call {
  readonly stream: ServerHttp2Stream;
  readonly headers: Readonly<Record<string, Json>>;
}

function knownType(name: string): DescMessage {
  return KNOWN_TYPES.getMessage(name)!;
}

/** A `google.rpc.Status`, whose fields are all shorter than 128 bytes. */
function statusOf({ code, message, details }: Refusal): Uint8Array {
  const part = (tag: number, bytes: Uint8Array) => [tag, bytes.length, ...bytes];
  const registry = KNOWN_TYPES;
  return Uint8Array.from([
    ...[0x08, code],
    ...part(0x12, new TextEncoder().encode(message)),
    ...details.flatMap((one) =>
      part(0x1a, toBinary(AnySchema, fromJson(AnySchema, one, { registry })))
    ),
  ]);
}

function refuse({ stream }: Call, refusal: Refusal): void {
  const { code, message, details } = refusal;
  stream.respond({
    ":status": 200,
    "content-type": "application/grpc",
    "grpc-status": `${code}`,
    "grpc-message": encodeURIComponent(message),
    "x-refused": "yes",
    ...details.length === 0 ? {} : { "grpc-status-details-bin": statusOf(refusal).toBase64() },
  }, { endStream: true });
}

function answer(
  { stream, headers }: Call,
  messages: readonly Uint8Array[],
  isPacked = false,
): void {
  stream.on("wantTrailers", () => {
    stream.sendTrailers({ "grpc-status": "0", "x-trailer": "end", "x-bytes-bin": "AQID" });
  });
  stream.respond({
    ":status": 200,
    "content-type": "application/grpc",
    "x-token": String(headers["x-token"] ?? ""),
    "x-timeout": String(headers["grpc-timeout"] ?? ""),
    ...isPacked ? { "grpc-encoding": "gzip" } : {},
  }, { waitForTrailers: true });
  for (const message of messages) {
    const bytes = isPacked ? gzipSync(message) : message;
    const head = Buffer.alloc(5);
    head.writeUInt8(isPacked ? 1 : 0);
    head.writeUInt32BE(bytes.length, 1);
    stream.write(Buffer.concat([head, bytes]));
  }
  stream.end();
}

function serve(call: Call, bodies: readonly Uint8Array[]): void {
  const path = String(call.headers[":path"]);
  const [, service, name] = path.split("/");
  if (service === `grpc.reflection.${reflection}.ServerReflection`) {
    return answer(call, bodies.map(reflect));
  }
  if (service?.startsWith("grpc.reflection.") && options.refusal !== undefined) {
    return refuse(call, new Refusal(options.refusal, "not for you"));
  }
  if (service === "grpc.health.v1.Health") return serveHealth(call, bodies[0]!);
  const method = shop.methods.find((one) => one.name === name);
  if (service !== shop.typeName || !method) return refuse(call, new Refusal(12, "no such method"));
  const messages = bodies.map((bytes) => decode(method.input, bytes));
  const result = METHODS[name!]!(messages, call);
  if (result === "never") return;
  if (result instanceof Refusal) return refuse(call, result);
  const replies = result.messages.map((message) =>
    toBinary(method.output, fromJson(method.output, message, { registry: types }))
  );
  answer(call, replies, call.headers["x-packed"] === "yes");
}

function serveHealth(call: Call, body: Uint8Array): void {
  const { service } = decode(knownType("grpc.health.v1.HealthCheckRequest"), body);
  const numbers: Readonly<Record<string, number>> = { "": 1, "shop.v1.Shop": 1, broken: 2 };
  const status = numbers[service ?? ""];
  if (status === undefined) return refuse(call, new Refusal(5, "unknown service"));
  const type = knownType("grpc.health.v1.HealthCheckResponse");
  answer(call, [toBinary(type, create(type, { status }))]);
}

function decode(type: DescMessage, bytes: Uint8Array): Json {
  return toJson(type, fromBinary(type, bytes), { registry: types });
}

function reflect(bytes: Uint8Array): Uint8Array {
  const question = decode(knownType("grpc.reflection.v1.ServerReflectionRequest"), bytes);
  const type = knownType("grpc.reflection.v1.ServerReflectionResponse");
  const reply = (value: Json) => toBinary(type, fromJson(type, value));
  if (question.listServices) {
    return reply({ listServicesResponse: { service: [{ name: shop.typeName }] } });
  }
  const { fileByFilename, fileContainingSymbol } = question;
  const file = [...types.files].find(({ proto }) => proto.name === fileByFilename) ??
    types.get(fileContainingSymbol ?? "")?.file;
  if (!file) return reply({ errorResponse: { errorCode: 5, errorMessage: "not found" } });
  const proto = toBinary(FileDescriptorProtoSchema, file.proto).toBase64();
  return reply({ fileDescriptorResponse: { fileDescriptorProto: [proto] } });
}

/** The messages of a request, each of which has its length before it. */
function messagesIn(request: Buffer): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let at = 0; at < request.length;) {
    const end = at + 5 + request.readUInt32BE(at + 1);
    messages.push(request.subarray(at + 5, end));
    at = end;
  }
  return messages;
}

const { tls } = options;
const server = tls
  ? createSecureServer({
    cert: Deno.readTextFileSync(tls.cert),
    key: Deno.readTextFileSync(tls.key),
    ...tls.clients
      ? { ca: Deno.readTextFileSync(tls.clients), requestCert: true, rejectUnauthorized: true }
      : {},
  })
  : createServer();
server.on("session", () => print("session"));
server.on("stream", (stream: ServerHttp2Stream, headers: Readonly<Record<string, Json>>) => {
  const name = String(headers[":path"]).split("/").at(-1);
  print(`${name} begins`);
  const chunks: Uint8Array[] = [];
  stream.on("data", (chunk: Uint8Array) => chunks.push(chunk.slice()));
  stream.on("end", () => serve({ stream, headers }, messagesIn(Buffer.concat(chunks))));
  stream.on("error", () => {});
  stream.on("close", () => print(`${name} ended ${stream.rstCode}`));
});
server.listen(0, "127.0.0.1", () => print(`port ${(server.address() as { port: number }).port}`));
