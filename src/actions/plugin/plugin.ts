/** The characters of a plugin name, none of which leads to another directory. */
export const PLUGIN_NAME = /^[A-Za-z0-9_-]+$/;

/** The directory of the plugins. */
export interface PluginDirectory {
  /** The path as given by the user, or in the home directory. */
  readonly path: string;
  /** Whether RUNNER_PLUGIN_DIR names it. */
  readonly isChosen: boolean;
}

/** A file that is a plugin by its name. */
export interface PluginFile {
  readonly name: string;
  /** The name used in messages. */
  readonly shown: string;
  readonly path: string;
  readonly kind: "module" | "program";
}

/** Why a plugin cannot be used. */
export interface PluginProblem {
  readonly message: string;
  readonly hint?: string;
}
