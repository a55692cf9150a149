/** A system with a binary. */
export interface Target {
  /** Its system and processor, as in the name of the binary: `linux-x64`. */
  readonly name: string;
  /** The name of the binary. */
  readonly file: string;
  /** The name that `deno compile --target` takes. */
  readonly triple: string;
  /** The first bytes of a program for it, as in the runtime that each system has a package of. */
  readonly sample: { readonly package: string; readonly path: string };
}

const ESBUILD = "0.25.5";

/** All systems with binaries. */
export const TARGETS: readonly Target[] = [
  target("linux-x64", "x86_64-unknown-linux-gnu", "linux-x64"),
  target("linux-arm64", "aarch64-unknown-linux-gnu", "linux-arm64"),
  target("macos-x64", "x86_64-apple-darwin", "darwin-x64"),
  target("macos-arm64", "aarch64-apple-darwin", "darwin-arm64"),
  target("windows-x64", "x86_64-pc-windows-msvc", "win32-x64"),
];

function target(name: string, triple: string, npm: string): Target {
  const isWindows = name.startsWith("windows-");
  return {
    name,
    triple,
    file: `runner-${name}${isWindows ? ".exe" : ""}`,
    sample: {
      package: `@esbuild/${npm}@${ESBUILD}`,
      path: isWindows ? "esbuild.exe" : "bin/esbuild",
    },
  };
}
