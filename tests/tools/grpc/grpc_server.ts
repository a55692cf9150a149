/** The service of tests/fixtures/grpc/shop.proto on the library of Node. Prints its address. */
import * as grpc from "@grpc/grpc-js";
import * as loader from "@grpc/proto-loader";
import { ReflectionService } from "@grpc/reflection";

const [directory] = Deno.args;
const definition = loader.loadSync(`${directory}/shop.proto`, {
  includeDirs: [directory!],
  keepCase: true,
  longs: String,
  enums: String,
  oneofs: true,
});
const server = new grpc.Server({
  "grpc.max_send_message_length": -1,
  "grpc.max_receive_message_length": -1,
});
const shop = (grpc.loadPackageDefinition(definition) as any).shop.v1.Shop;
server.addService(shop.service, {
  GetItem(call: any, answer: any) {
    const { id, count } = call.request;
    const metadata = new grpc.Metadata();
    metadata.set("x-trailer", "end");
    if (id === "missing") {
      return answer({ code: grpc.status.NOT_FOUND, details: 'there is no item "ü"', metadata });
    }
    const name = id === "large" ? "x".repeat(count) : "Ann's";
    answer(null, { id, name, kind: "BOOK", serial: "9007199254740993" }, metadata);
  },
  EchoItem: (call: any, answer: any) => answer(null, call.request),
  ListItems(call: any) {
    for (let number = 1; number <= call.request.count; number++) call.write({ id: `${number}` });
    call.end();
  },
  AddItems(call: any, answer: any) {
    let count = 0;
    call.on("data", () => count++);
    call.on("end", () => answer(null, { count }));
  },
  Trade(call: any) {
    call.on("data", ({ id }: any) => call.write({ id: `${id}!` }));
    call.on("end", () => call.end());
  },
  Wait() {},
});
new ReflectionService(definition).addToServer(server);
server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (_: unknown, port: number) => {
  console.log(`127.0.0.1:${port}`);
});
for await (const _ of Deno.stdin.readable) { /* until the test ends it */ }
Deno.exit();
