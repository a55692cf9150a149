/** The directory of the plugins. */
export interface PluginFolder {
  /** As the user or the home directory names it. */
  readonly path: string;
  /** Whether RUNNER_PLUGIN_DIR names it. */
  readonly isChosen: boolean;
}

/** A file that is a plugin by its name. */
export interface PluginFile {
  readonly name: string;
  /** As messages name it. */
  readonly shown: string;
  readonly path: string;
  readonly kind: "module" | "program";
}

/** Why a plugin cannot be used. */
export interface PluginProblem {
  readonly message: string;
  readonly hint?: string;
}
