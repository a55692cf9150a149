import type { Exporter } from "./exported.ts";

/** An engine for which `runner export` writes a file. */
interface Engine {
  readonly name: string;
  /** It runs everything in containers. */
  readonly needsImage?: true;
  readonly load: () => Promise<Exporter>;
}

/** The engines: one file and one line each. */
export const EXPORTERS: readonly Engine[] = [
  { name: "github", load: async () => (await import("./github.ts")).github },
  { name: "gitlab", load: async () => (await import("./gitlab.ts")).gitlab },
  { name: "argo", needsImage: true, load: async () => (await import("./argo.ts")).argo },
];
