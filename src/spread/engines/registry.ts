import type { Exported } from "./exported.ts";

/** The operands of `runner export`. */
export type EngineName = "github" | "gitlab" | "argo";

/** An engine for which `runner export` writes a file. */
interface Engine {
  readonly name: EngineName;
  /** It runs everything in containers. */
  readonly needsImage?: true;
  /** Its tasks get variables only if the file names them. */
  readonly namesVariables?: true;
  /** What to do with the file. */
  readonly next: (file: string) => string;
  /** Its module writes the file, and throws RunnerError for what the engine cannot do. */
  readonly load: () => Promise<{ readonly exportJobs: (exported: Exported) => string }>;
}

const NEEDS = "its first lines say what it needs";

/** The engines: one file and one line each. */
export const EXPORTERS: readonly Engine[] = [
  {
    name: "github",
    namesVariables: true,
    next: () => `commit it in .github/workflows; ${NEEDS}`,
    load: () => import("./github.ts"),
  },
  {
    name: "gitlab",
    next: () => `include it in .gitlab-ci.yml; ${NEEDS}`,
    load: () => import("./gitlab.ts"),
  },
  {
    name: "argo",
    needsImage: true,
    namesVariables: true,
    next: (file) => `start it with argo submit ${file}; ${NEEDS}`,
    load: () => import("./argo.ts"),
  },
];
