import { assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { runMain } from "../../../support/run/run_main.ts";
import { withFiles } from "../../../support/temp_dir.ts";
import { startTool } from "../../../support/servers/tool_server.ts";

Deno.test("http puts a file into S3 and gets it back, and not with a wrong key", async () => {
  const content = "0123456789abcdef".repeat(20_000);
  const sha256 = createHash("sha256").update(content).digest("hex");
  await withFiles({ "in.bin": content }, async (cwd) => {
    await using s3 = await startTool("s3/s3_server.ts", [`${cwd}/objects`]);
    const auth = (secret: string) =>
      `auth: { aws: { region: eu-central-1, service: s3, access_key_id: S3RVER, ` +
      `secret_access_key: ${secret} } }`;
    const object = `"${s3.url}/bucket/a%20folder/b=(1).bin?x-id=a%2Fb&empty"`;
    const workflow = `
name: w
jobs:
  - name: j
    steps:
      - uses: http
        with: { put: ${object}, file: "${cwd}/in.bin", ${auth("S3RVER")} }
        test: res.code == 200
      - uses: http
        with: { get: ${object}, save: "${cwd}/out.bin", ${auth("S3RVER")} }
        test: res.code == 200 && res.sha256 == "${sha256}" && res.size == ${content.length}
      - uses: http
        with: { put: ${object}, file: "${cwd}/in.bin", ${auth("another")} }
        test: res.code == 403 && res.body matches "SignatureDoesNotMatch"
      - uses: http
        with: { get: ${object}, ${auth("another")} }
        test: res.code == 403
`;
    await Deno.writeTextFile(`${cwd}/w.yml`, workflow);
    const { code, stdout, stderr } = await runMain(["w.yml"], { cwd });
    assertEquals([code, stderr], [0, ""], stdout);
    assertEquals(await Deno.readTextFile(`${cwd}/out.bin`), content);
  });
});
