/**
 * Writes what a build is made of as CycloneDX JSON, read from deno.lock:
 * `make_sbom.ts <file>`.
 *
 * Source: https://cyclonedx.org/docs/1.6/json/
 */

interface Lock {
  readonly npm?: Readonly<Record<string, LockedPackage>>;
}

interface LockedPackage {
  /** `sha512-` and base64. */
  readonly integrity?: string;
  readonly dependencies?: readonly string[];
}

/** The parts that a lock file names, as CycloneDX. */
export function makeSbom(lock: Lock, name: string, version: string): unknown {
  const packages = Object.entries(lock.npm ?? {});
  const refs = new Map(packages.map(([key]) => [key, purl(key)]));
  return {
    bomFormat: "CycloneDX",
    specVersion: "1.6",
    version: 1,
    metadata: {
      component: { type: "application", "bom-ref": name, name, version },
    },
    components: packages.map(([key, { integrity }]) => {
      const { name, version } = splitKey(key);
      const hash = /^sha512-(.+)$/.exec(integrity ?? "")?.[1];
      return {
        type: "library",
        "bom-ref": purl(key),
        name,
        version,
        purl: purl(key),
        ...hash === undefined ? {} : { hashes: [{ alg: "SHA-512", content: hexOf(hash) }] },
      };
    }),
    dependencies: packages.map(([key, { dependencies = [] }]) => ({
      ref: purl(key),
      dependsOn: dependencies.flatMap((other) => refs.get(other) ?? refOfName(other, refs)),
    })),
  };
}

/** `@scope/name@1.2.3_peer@4.5.6`: what follows the version says which peers it was put with. */
function splitKey(key: string): { readonly name: string; readonly version: string } {
  const [, name = key, version = ""] = /^(@?[^@]+)@([^_]+)/.exec(key) ?? [];
  return { name, version };
}

function purl(key: string): string {
  const { name, version } = splitKey(key);
  return `pkg:npm/${name.replace("@", "%40")}@${version}`;
}

/** Where a package is there in one version only, others name it without. */
function refOfName(name: string, refs: ReadonlyMap<string, string>): string[] {
  return [...refs].filter(([key]) => splitKey(key).name === name).map(([, ref]) => ref);
}

function hexOf(base64: string): string {
  return [...atob(base64)].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, "0")).join("");
}

if (import.meta.main) {
  const [file] = Deno.args;
  if (file === undefined) throw new Error("usage: make_sbom.ts <file>");
  const read = async (path: string) =>
    JSON.parse(await Deno.readTextFile(new URL(`../${path}`, import.meta.url)));
  const { version } = await read("deno.json");
  const sbom = makeSbom(await read("deno.lock"), "runner", version);
  await Deno.writeTextFile(file, `${JSON.stringify(sbom, undefined, 2)}\n`);
}
