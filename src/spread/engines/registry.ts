import type { Exported } from "./exported.ts";

/** An engine for which `runner export` writes a file. */
interface Engine {
  readonly name: string;
  /** It runs everything in containers. */
  readonly needsImage?: true;
  /** Its tasks get variables only if the file names them. */
  readonly namesVariables?: true;
  /** Its module writes the file, and throws RunnerError for what the engine cannot do. */
  readonly load: () => Promise<{ readonly exportJobs: (exported: Exported) => string }>;
}

/** The engines: one file and one line each. */
export const EXPORTERS: readonly Engine[] = [
  { name: "github", namesVariables: true, load: () => import("./github.ts") },
  { name: "gitlab", load: () => import("./gitlab.ts") },
  { name: "argo", needsImage: true, namesVariables: true, load: () => import("./argo.ts") },
];
