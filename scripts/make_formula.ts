/**
 * Writes a Homebrew formula of a release:
 * `make_formula.ts <releases> <version> <SHA256SUMS> <file>`.
 */

/** The formula of a release, by the checksums of its files. Throws where one is missing. */
export function makeFormula(releases: string, version: string, sums: string): string {
  const sumOf = (file: string): string => {
    const [sum] =
      sums.split("\n").map((line) => line.split(/[ *]+/)).find(([, name]) => name === file) ?? [];
    if (sum === undefined || !/^[0-9a-f]{64}$/.test(sum)) throw new Error(`no checksum of ${file}`);
    return sum;
  };
  const choice = (os: string, arch: string) => {
    const file = `runner-${os}-${arch}`;
    return `      url "${releases}/download/v${version}/${file}"\n      sha256 "${sumOf(file)}"`;
  };
  return `class Runner < Formula
  desc "Runs workflow files: tests APIs, smoke-tests releases, watches services"
  homepage "${releases.replace(/\/releases$/, "")}"
  version "${version}"
  license "MIT"

  on_macos do
    on_arm do
${choice("macos", "arm64")}
    end
    on_intel do
${choice("macos", "x64")}
    end
  end

  on_linux do
    on_arm do
${choice("linux", "arm64")}
    end
    on_intel do
${choice("linux", "x64")}
    end
  end

  def install
    bin.install Dir["runner-*"].first => "runner"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/runner --version")
  end
end
`;
}

if (import.meta.main) {
  const [releases, version, sums, file] = Deno.args;
  if (!releases || !version || !sums || !file) {
    throw new Error("usage: make_formula.ts <releases> <version> <SHA256SUMS> <file>");
  }
  await Deno.writeTextFile(file, makeFormula(releases, version, await Deno.readTextFile(sums)));
}
