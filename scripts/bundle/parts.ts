/**
 * What does not go into the one file as it stands. Everything else does, and a static import that
 * is left in it stops the build.
 *
 * @module
 */

/**
 * Built-in modules that cost as much as a start does. A bundle would import them at its top, needed
 * or not, so it asks for them where they are needed.
 */
export const BUILT_IN: readonly string[] = ["node:http", "node:https", "node:net"];

/**
 * Large packages that a run may do without: they lie in the file compressed, and a run that needs
 * one takes some ten milliseconds longer.
 */
export const PACKED: readonly string[] = ["acorn", "js-yaml", "re2js"];

/** Packages that few runs need: they come from the registry of npm, and what for they are needed. */
export const FETCHED: Readonly<Record<string, string>> = {
  "@apidevtools/json-schema-ref-parser": "reading OpenAPI descriptions",
};
