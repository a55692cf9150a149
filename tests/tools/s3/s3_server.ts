/**
 * Starts a server like S3 with a bucket "bucket", on a free port, and prints its URL. The ID and the
 * secret of its key are both S3RVER. Argument: the directory for its objects. It ends when its
 * input ends.
 *
 * @module
 */
import S3rver from "@20minutes/s3rver";

const [directory = ""] = Deno.args;
const server = new S3rver({
  ...{ address: "127.0.0.1", port: 0, silent: true, directory },
  configureBuckets: [{ name: "bucket", configs: [] }],
});
const { port } = await server.run();
// deno-lint-ignore no-console
console.log(`http://127.0.0.1:${port}`);
await Deno.stdin.readable.pipeTo(new WritableStream());
Deno.exit(0);
