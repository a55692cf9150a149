/** A gRPC server of the library in C, with the service of tests/fixtures/grpc/shop.proto. */
import { fromFileUrl } from "@std/path/from-file-url";

export interface GrpcServer extends AsyncDisposable {
  readonly plain: number;
  readonly tls: number;
  readonly mutualTls: number;
  /** The descriptor set that protoc made. */
  readonly descriptorSet: string;
  /** The next line that the server prints: `waiting`, `cancelled`. */
  nextLine(): Promise<string>;
}

const HERE = fromFileUrl(new URL(".", import.meta.url));
const FIXTURES = fromFileUrl(new URL("../../fixtures", import.meta.url));

/** That of Debian, whose packages another one does not see. */
const PYTHON = "/usr/bin/python3";

/** Makes the modules and starts the server on free ports. */
export async function grpcServer(): Promise<GrpcServer> {
  const home = await Deno.makeTempDir({ prefix: "grpc-" });
  const descriptorSet = `${home}/shop.pb`;
  const { success, stderr } = await new Deno.Command("protoc", {
    args: [
      ...[`-I${FIXTURES}/grpc`, `-I${HERE}grpc`, `--python_out=${home}`],
      ...["--include_imports", `--descriptor_set_out=${descriptorSet}`],
      ...["shop.proto", "shared/money.proto", "reflection.proto"],
    ],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  const child = new Deno.Command(PYTHON, {
    args: [`${HERE}grpc/shop.py`, home, `${FIXTURES}/tls`],
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  const nextLine = async () => {
    while (!rest.includes("\n")) {
      const { value, done } = await reader.read();
      if (done) throw new Error(`the server ended: ${rest}`);
      rest += value;
    }
    const end = rest.indexOf("\n");
    const line = rest.slice(0, end);
    rest = rest.slice(end + 1);
    return line;
  };
  const [plain, tls, mutualTls] = (await nextLine()).split(" ").map(Number);
  return {
    plain: plain!,
    tls: tls!,
    mutualTls: mutualTls!,
    descriptorSet,
    nextLine,
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      await reader.cancel();
      await child.status;
      await Deno.remove(home, { recursive: true });
    },
  };
}
