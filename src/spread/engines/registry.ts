import type { Exporter } from "./exported.ts";

/** An engine for which `runner export` writes a file. */
interface Engine {
  readonly name: string;
  /** It runs everything in containers. */
  readonly needsImage?: true;
  /** Its tasks get variables only if the file names them. */
  readonly namesVariables?: true;
  readonly load: () => Promise<Exporter>;
}

/** The engines: one file and one line each. */
export const EXPORTERS: readonly Engine[] = [
  { name: "github", namesVariables: true, load: async () => (await import("./github.ts")).github },
  { name: "gitlab", load: async () => (await import("./gitlab.ts")).gitlab },
  {
    name: "argo",
    needsImage: true,
    namesVariables: true,
    load: async () => (await import("./argo.ts")).argo,
  },
];
