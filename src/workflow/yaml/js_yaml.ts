/** The parser that tells where things stand, and that is right where the fast one is not. */
export type JsYaml = typeof import("js-yaml");

/** A part of a YAML text as js-yaml finds it, one after the other. */
export type YamlEvent = import("js-yaml").Event;

/** Brings js-yaml, which a workflow without surprises does without. */
export function loadJsYaml(): Promise<JsYaml> {
  return import("js-yaml");
}
