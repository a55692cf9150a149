/** Where the program says that plugins are looked for; not everybody has a home. */
export const PLUGIN_PLACE = Deno.env.get(Deno.build.os === "windows" ? "USERPROFILE" : "HOME")
  ? "looked for in ~/.runner/plugins"
  : "looked for where RUNNER_PLUGIN_DIR says";
