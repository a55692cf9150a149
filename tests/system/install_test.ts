import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { withFiles } from "../support/temp_dir.ts";

const SCRIPT = fromFileUrl(new URL("../../scripts/install.sh", import.meta.url));
const PROGRAM = "#!/bin/sh\necho Runner Version 1.2.3\n";
const ARCH = { x86_64: "x64", aarch64: "arm64" }[Deno.build.arch];
const NAME = `runner-${Deno.build.os === "darwin" ? "macos" : "linux"}-${ARCH}`;

interface Release {
  /** What the host sends for the program; it is missing where this is undefined. */
  readonly program?: string;
  /** What its list of checksums says of the program. */
  readonly checksum?: string;
}

interface Installed {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  /** What the host was asked for. */
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
    folders = [] as readonly string[],
  } = {},
): Promise<Installed> {
  const asked: string[] = [];
  const { program, checksum = await sha256(program ?? PROGRAM) } = release;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    asked.push(pathname);
    if (pathname.endsWith("/SHA256SUMS")) {
      return new Response(`${"0".repeat(64)}  runner-plan9-x64\n${checksum}  ${NAME}\n`);
    }
    return program !== undefined && pathname.endsWith(`/${NAME}`)
      ? new Response(program)
      : new Response("no such file", { status: 404 });
  });
  try {
    return await withFiles({}, async (folder) => {
      for (const name of ["tmp", ...folders]) {
        await Deno.mkdir(`${folder}/${name}`, { recursive: true });
      }
      const path = tools ? await toolFolder(folder, tools) : Deno.env.get("PATH")!;
      const output = await new Deno.Command("/bin/sh", {
        args: [script, ...args],
        clearEnv: true,
        env: {
          PATH: path,
          HOME: `${folder}/my home`,
          TMPDIR: `${folder}/tmp`,
          RUNNER_RELEASES: `http://127.0.0.1:${server.addr.port}/releases`,
          ...env,
        },
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).replaceAll(folder, "~");
      const left = filesIn(folder).filter((name) => !name.startsWith("tools/"));
      if (output.success && left[0] !== undefined) {
        const run = await new Deno.Command(`${folder}/${left[0]}`).output();
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
async function toolFolder(folder: string, tools: readonly string[]): Promise<string> {
  await Deno.mkdir(`${folder}/tools`);
  for (const tool of tools) {
    const found = Deno.env.get("PATH")!.split(":").map((path) => `${path}/${tool}`).find(exists);
    assert(found, `${tool} is needed for this test`);
    await Deno.symlink(found, `${folder}/tools/${tool}`);
  }
  return `${folder}/tools`;
}

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

function filesIn(folder: string, prefix = ""): string[] {
  return [...Deno.readDirSync(folder)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesIn(`${folder}/${name}`, `${prefix}${name}/`) : [`${prefix}${name}`]
  );
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

const BASE = ["uname", "grep", "sed", "cut", "tail", "mktemp", "mkdir", "cp", "chmod", "mv", "rm"];

Deno.test("install.sh installs the latest release", async () => {
  const { code, stdout, stderr, left, asked } = await install({ program: PROGRAM });
  assertEquals([code, stderr, left], [0, "", ["my home/.local/bin/runner"]]);
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
  assertEquals([code, stderr, left], [0, "", ["my home/.local/bin/runner"]]);
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
  ["a file that is missing", {}, {}, `/latest/download/${NAME}`],
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
    "a folder that cannot be made",
    { program: PROGRAM },
    { env: { RUNNER_INSTALL: "/dev/null/bin" } },
    "cannot create the directory /dev/null/bin",
  ],
  [
    "a folder in the place of the program",
    { program: PROGRAM },
    { folders: ["my home/.local/bin/runner"] },
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
    assertEquals([code, stdout, left], [1, "", []]);
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
    await withFiles({ "part.sh": part }, async (folder) => {
      const script = `${folder}/part.sh`;
      const { stdout, asked, left } = await install({ program: PROGRAM }, { script });
      assertEquals([stdout, asked, left], ["", [], []], part.slice(-80));
    });
  }
});

Deno.test("install.sh refuses a system with musl", async () => {
  await withFiles(
    { "ldd": "#!/bin/sh\necho 'musl libc (x86_64)' >&2\nexit 1\n" },
    async (folder) => {
      await Deno.chmod(`${folder}/ldd`, 0o755);
      const env = { PATH: `${folder}:${Deno.env.get("PATH")}` };
      const { code, stderr, left, asked } = await install({ program: PROGRAM }, { env });
      assertEquals([code, left, asked], [1, [], []]);
      assertStringIncludes(stderr, "this system uses musl, but runner needs glibc");
    },
  );
});
