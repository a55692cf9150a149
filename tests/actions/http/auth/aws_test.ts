import { assertEquals, assertStringIncludes } from "@std/assert";
import { createHash } from "node:crypto";
import { openAws } from "../../../../src/actions/http/auth/sign_in.ts";
import { runHttp } from "../../../../src/actions/http/run_http.ts";
import { actionContext } from "../../../support/action_context.ts";
import { runMain } from "../../../support/run/run_main.ts";
import { startTool } from "../../../support/servers/tool_server.ts";
import { withServer } from "../../../support/servers/with_server.ts";
import { withFiles } from "../../../support/temp_dir.ts";

/** Keys and time of the published test suite of Signature Version 4. */
const SUITE = {
  access_key_id: "AKIDEXAMPLE",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  service: "service",
};
const SUITE_DATE = { "X-Amz-Date": "20150830T123600Z" };

/** The credentials of the examples in the documents of S3. */
const S3 = {
  access_key_id: "AKIAIOSFODNN7EXAMPLE",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  region: "us-east-1",
  service: "s3",
};
const S3_DATE = { "X-Amz-Date": "20130524T000000Z" };
const BUCKET = "https://examplebucket.s3.amazonaws.com";

interface Vector {
  readonly name: string;
  readonly aws: typeof SUITE;
  readonly request: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signature: string;
}

const FORM = "application/x-www-form-urlencoded";

const VECTORS: readonly Vector[] = [
  {
    name: "get-vanilla",
    aws: SUITE,
    request: "GET https://example.amazonaws.com/",
    headers: SUITE_DATE,
    signature: "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31",
  },
  {
    name: "get-vanilla-query-order-key-case",
    aws: SUITE,
    request: "GET https://example.amazonaws.com/?Param2=value2&Param1=value1",
    headers: SUITE_DATE,
    signature: "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500",
  },
  {
    name: "post-vanilla",
    aws: SUITE,
    request: "POST https://example.amazonaws.com/",
    headers: SUITE_DATE,
    signature: "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b",
  },
  {
    name: "post-x-www-form-urlencoded",
    aws: SUITE,
    request: "POST https://example.amazonaws.com/",
    headers: { ...SUITE_DATE, "Content-Type": FORM },
    body: "Param1=value1",
    signature: "ff11897932ad3f4e8b18135d722051e5ac45fc38421b1da7b9d196a0fe09473a",
  },
  {
    name: "ListUsers of IAM",
    aws: { ...SUITE, service: "iam" },
    request: "GET https://iam.amazonaws.com/?Action=ListUsers&Version=2010-05-08",
    headers: { ...SUITE_DATE, "Content-Type": `${FORM}; charset=utf-8` },
    signature: "5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7",
  },
  {
    name: "GET Object of S3",
    aws: S3,
    request: `GET ${BUCKET}/test.txt`,
    headers: { ...S3_DATE, Range: "bytes=0-9" },
    signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
  },
  {
    name: "PUT Object of S3",
    aws: S3,
    request: `PUT ${BUCKET}/test$file.text`,
    headers: {
      ...S3_DATE,
      Date: "Fri, 24 May 2013 00:00:00 GMT",
      "X-Amz-Storage-Class": "REDUCED_REDUNDANCY",
    },
    body: "Welcome to Amazon S3.",
    signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd",
  },
  {
    name: "GET Bucket Lifecycle of S3",
    aws: S3,
    request: `GET ${BUCKET}/?lifecycle`,
    headers: S3_DATE,
    signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543",
  },
  {
    name: "GET Bucket of S3",
    aws: S3,
    request: `GET ${BUCKET}/?max-keys=2&prefix=J`,
    headers: S3_DATE,
    signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7",
  },
];

for (const { name, aws, request, headers, body, signature } of VECTORS) {
  Deno.test(`auth.aws gives the published signature of ${name}`, async () => {
    const [method = "", target = ""] = request.split(" ");
    const url = new URL(target);
    const accept = { Accept: "*/*", "User-Agent": "runner", Host: url.host };
    const signIn = await openAws({ ...aws, session_token: undefined });
    const signed = await signIn.sign({
      method,
      url,
      headers: { ...accept, ...headers },
      ...body === undefined ? {} : { body },
    });
    assertStringIncludes(String(signed.headers.Authorization), `Signature=${signature}`);
  });
}

Deno.test("http sends what it signed, with the token of temporary credentials", async () => {
  await using context = actionContext();
  let seen = new Headers();
  await using server = withServer((request) => {
    seen = request.headers;
    return new Response("ok");
  });
  await runHttp({
    put: `${server.url}/bucket/key`,
    body: "data",
    auth: { aws: { ...S3, session_token: "token-of-a-session" } },
  }, context);
  assertEquals(
    seen.get("x-amz-content-sha256"),
    "3a6eb0790f39ac87c94f3856b2dd2c5d110e6811602261a9a923d3bb23adc8b7",
  );
  assertEquals(seen.get("x-amz-security-token"), "token-of-a-session");
  assertStringIncludes(
    seen.get("authorization") ?? "",
    "SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token",
  );
  assertEquals(context.learned.includes(S3.secret_access_key), true);
  assertEquals(context.learned.includes(S3.access_key_id), true);
});

Deno.test("http sends a plus sign in a path of S3 encoded, as it is signed", async () => {
  await using context = actionContext();
  const seen: string[] = [];
  await using server = withServer((request) => {
    seen.push(`${new URL(request.url).pathname} ${request.headers.get("authorization")}`);
    return new Response("ok");
  });
  const auth = { aws: S3 };
  const headers = { "x-amz-date": "20130524T000000Z" };
  const results = [];
  for (const path of ["/b/1.0+build.tgz", "/b/1.0%2Bbuild.tgz"]) {
    results.push(await runHttp({ get: `${server.url}${path}`, headers, auth }, context));
  }
  assertEquals(seen[0], seen[1]);
  assertStringIncludes(seen[0]!, "/b/1.0%2Bbuild.tgz AWS4-HMAC-SHA256 ");
  assertStringIncludes(String(results[0]!.req.url), "/b/1.0%2Bbuild.tgz");
});

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
