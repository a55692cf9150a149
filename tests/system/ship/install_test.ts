import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

const SCRIPT = fromFileUrl(new URL("../../../scripts/install.sh", import.meta.url));
const PROGRAM = "#!/bin/sh\necho Runner Version 1.2.3\n";
const ARCH = { x86_64: "x64", aarch64: "arm64" }[Deno.build.arch];
const NAME = `runner-${Deno.build.os === "darwin" ? "macos" : "linux"}-${ARCH}`;

interface Release {
  /** The response of the host for the program; not found if undefined. */
  readonly program?: string;
  /** The checksum of the program in its list. */
  readonly checksum?: string;
  /** The status of the response for the list, if it is an error. */
  readonly sums?: number;
}

interface Installed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** The paths that were requested from the host. */
  readonly asked: readonly string[];
  /** Everything in the directory that the script worked in, by path. */
  readonly left: readonly string[];
}

/** Runs the script against a host that has one release. */
async function install(
  release: Release,
  {
    args = [] as string[],
    tools = undefined as readonly string[] | undefined,
    env = {},
    script = SCRIPT,
    directories = [] as readonly string[],
  } = {},
): Promise<Installed> {
  const asked: string[] = [];
  const { program, sums = 200, checksum = await sha256(program ?? PROGRAM) } = release;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    if (pathname.endsWith("/SHA256SUMS")) {
      const list = `${"0".repeat(64)}  runner-plan9-x64\n${checksum}  ${NAME}\n`;
      return new Response(list, { status: sums });
    }
    return program !== undefined && pathname.endsWith(`/${NAME}`)
      ? new Response(program)
      : new Response("no such file", { status: 404 });
  });
  try {
    return await withFiles({}, async (directory) => {
      for (const name of ["tmp", ...directories]) {
        await Deno.mkdir(`${directory}/${name}`, { recursive: true });
      }
      const path = tools ? await toolDirectory(directory, tools) : Deno.env.get("PATH")!;
      const output = await new Deno.Command("/bin/sh", {
        args: [script, ...args],
        clearEnv: true,
        env: {
          PATH: path,
          HOME: `${directory}/my home`,
          TMPDIR: `${directory}/tmp`,
          RUNNER_RELEASES: `http://127.0.0.1:${server.addr.port}/releases`,
          ...env,
        },
      }).output();
      const text = (bytes: Uint8Array) =>
        new TextDecoder().decode(bytes).replaceAll(directory, "~");
      const left = filesIn(directory).filter((name) => !name.startsWith("tools/"));
      if (output.success && left[0] !== undefined) {
        const run = await new Deno.Command(`${directory}/${left[0]}`).output();
        assertEquals(text(run.stdout), "Runner Version 1.2.3\n");
      }
      return {
        code: output.code,
        stdout: text(output.stdout),
        stderr: text(output.stderr),
        asked,
        left,
      };
    });
  } finally {
    await server.shutdown();
  }
}

/** A PATH of nothing but these tools. */
async function toolDirectory(directory: string, tools: readonly string[]): Promise<string> {
  await Deno.mkdir(`${directory}/tools`);
  for (const tool of tools) {
    const found = Deno.env.get("PATH")!.split(":").map((path) => `${path}/${tool}`).find(exists);
    assert(found, `${tool} is needed for this test`);
    await Deno.symlink(found, `${directory}/tools/${tool}`);
  }
  return `${directory}/tools`;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function filesIn(directory: string, prefix = ""): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesIn(`${directory}/${name}`, `${prefix}${name}/`) : [`${prefix}${name}`]
  );
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const BASE = ["uname", "grep", "sed", "cut", "tail", "mktemp", "mkdir", "cp", "chmod", "mv", "rm"];

Deno.test("install.sh installs the latest release", async () => {
  const { code, stdout, stderr, left, asked } = await install({ program: PROGRAM });
  assertEquals([code, left], [0, ["my home/.local/bin/runner"]]);
  assertEquals(
    stderr.replace(/127\.0\.0\.1:\d+/, "host"),
    `looking for latest at http://host/releases\ndownloading ${NAME}\nverifying its checksum\n`,
  );
  assertEquals(asked, [
    "/releases/latest/download/SHA256SUMS",
    `/releases/latest/download/${NAME}`,
  ]);
  assertEquals(
    stdout,
    'installed ~/my home/.local/bin/runner\nadd it to your PATH: export PATH="~/my home/.local/bin:$PATH"\n',
  );
});

Deno.test("install.sh installs a release by its version, with or without a v", async () => {
  for (const version of ["1.2.3", "v1.2.3"]) {
    const { code, asked } = await install({ program: PROGRAM }, { args: [version] });
    assertEquals([code, asked[1]], [0, `/releases/download/v1.2.3/${NAME}`]);
  }
});

Deno.test("install.sh uses wget if there is no curl", async () => {
  const tools = [...BASE, "wget", "sha256sum"];
  const { code, stderr, left } = await install({ program: PROGRAM }, { tools });
  assertEquals([code, left], [0, ["my home/.local/bin/runner"]], stderr);
});

Deno.test("install.sh --help says what it reads, and requests nothing", async () => {
  for (const option of ["--help", "-h"]) {
    const env = { RUNNER_RELEASES: "" };
    const { code, stdout, stderr, asked } = await install({}, { args: [option], env });
    assertEquals([code, stderr, asked], [0, "", []]);
    for (const word of ["Usage: sh install.sh [<version>]", "RUNNER_INSTALL", "RUNNER_RELEASES"]) {
      assertStringIncludes(stdout, word);
    }
    assertEquals(stdout.split("\n").filter((line) => line.length > 80), []);
  }
});

Deno.test("install.sh shows a progress bar on a terminal", async () => {
  await withFiles({}, async (directory) => {
    const digest = await sha256(PROGRAM);
    await using server = withServer(({ url }) =>
      new Response(url.endsWith("/SHA256SUMS") ? `${digest}  ${NAME}\n` : PROGRAM)
    );
    const env = { HOME: directory, RUNNER_RELEASES: `${server.url}/releases` };
    const { success, stdout } = await new Deno.Command("script", {
      args: ["-qec", `/bin/sh ${SCRIPT} 1.2.3`, "/dev/null"],
      env,
    }).output();
    const text = new TextDecoder().decode(stdout);
    assert(success, text);
    assert(/downloading \S+\r\n[^]*#+[^]* 100\.0%[^]*verifying its checksum/.test(text), text);
  });
});

const failures: readonly (readonly [
  what: string,
  release: Release,
  options: Parameters<typeof install>[1],
  message: string,
])[] = [
  ["a wrong checksum", { program: PROGRAM, checksum: "f".repeat(64) }, {}, "checksum mismatch"],
  [
    "a truncated file",
    { program: PROGRAM.slice(0, 9), checksum: await sha256(PROGRAM) },
    {},
    "checksum mismatch",
  ],
  ["an empty file", { program: "", checksum: await sha256(PROGRAM) }, {}, "checksum mismatch"],
  ["a file that is missing", {}, {}, `the release lists ${NAME}, but does not contain it`],
  [
    "a file that is missing, for wget",
    {},
    { tools: [...BASE, "wget", "sha256sum"] },
    `the release lists ${NAME}, but does not contain it`,
  ],
  ["a release that does not exist", { sums: 404 }, { args: ["v9.9.9"] }, "no release 9.9.9 found"],
  ["no release", { sums: 404 }, {}, "no release found at http"],
  [
    "no release, for wget",
    { sums: 404 },
    { tools: [...BASE, "wget"] },
    "RUNNER_RELEASES must be the page of the releases",
  ],
  ["no access", { sums: 403 }, {}, "does not serve its releases without a sign-in"],
  ["an unknown option", {}, { args: ["--latest"] }, "unknown option --latest"],
  ["two versions", {}, { args: ["1.2.3", "1.2.4"] }, "one version is enough, not 1.2.3 1.2.4"],
  ["a release without this system", { program: PROGRAM, checksum: "x" }, {}, `has no ${NAME}`],
  ["no curl and no wget", { program: PROGRAM }, { tools: BASE }, "curl or wget is required"],
  [
    "nothing to verify with",
    { program: PROGRAM },
    { tools: [...BASE, "curl"] },
    "sha256sum, shasum or openssl",
  ],
  ["a version that is none", { program: PROGRAM }, { args: ["../x"] }, '"../x" is not a version'],
  ["no home", { program: PROGRAM }, { env: { HOME: "" } }, "HOME is not set"],
  ["no place of releases", {}, { env: { RUNNER_RELEASES: "" } }, "RUNNER_RELEASES is not set"],
  [
    "a directory that cannot be made",
    { program: PROGRAM },
    { env: { RUNNER_INSTALL: "/dev/null/bin" } },
    "cannot create the directory /dev/null/bin",
  ],
  [
    "a directory in the place of the program",
    { program: PROGRAM },
    { directories: ["my home/.local/bin/runner"] },
    "~/my home/.local/bin/runner is a directory",
  ],
  [
    "a host that is not there",
    {},
    { env: { RUNNER_RELEASES: "http://127.0.0.1:1/r" } },
    "cannot download http://127.0.0.1:1/r/latest/download/SHA256SUMS",
  ],
];

for (const [what, release, options, message] of failures) {
  Deno.test(`install.sh leaves nothing behind: ${what}`, async () => {
    const { code, stderr, stdout, left } = await install(release, options);
    assertStringIncludes(stderr, message);
    assertEquals([code, stdout, left], [release.sums === 404 ? 3 : 1, "", []]);
    assert(stderr.startsWith("install.sh: error: ") || stderr.includes("\ninstall.sh: error: "));
  });
}

Deno.test("an incomplete install.sh does nothing", async () => {
  const lines = (await Deno.readTextFile(SCRIPT)).trimEnd().split("\n");
  const last = lines.at(-1)!;
  const before = `${lines.slice(0, -1).join("\n")}\n`;
  const parts = [
    ...lines.slice(1).map((_, index) => `${lines.slice(0, index + 1).join("\n")}\n`),
    ...[...last].map((_, length) => `${before}${last.slice(0, length)}`),
  ];
  for (const part of parts) {
    await withFiles({ "part.sh": part }, async (directory) => {
      const script = `${directory}/part.sh`;
      const { stdout, asked, left } = await install({ program: PROGRAM }, { script });
      assertEquals([stdout, asked, left], ["", [], []], part.slice(-80));
    });
  }
});

Deno.test("install.sh refuses a system with musl", async () => {
  await withFiles(
    { "ldd": "#!/bin/sh\necho 'musl libc (x86_64)' >&2\nexit 1\n" },
    async (directory) => {
      await Deno.chmod(`${directory}/ldd`, 0o755);
      const env = { PATH: `${directory}:${Deno.env.get("PATH")}` };
      const { code, stderr, left, asked } = await install({ program: PROGRAM }, { env });
      assertEquals([code, left, asked], [1, [], []]);
      assertStringIncludes(stderr, "this system uses musl, but runner needs glibc");
    },
  );
});
