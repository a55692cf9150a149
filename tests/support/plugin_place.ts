/** The plugin directory in messages; not every user has a home directory. */
export const PLUGIN_PLACE = Deno.env.get(Deno.build.os === "windows" ? "USERPROFILE" : "HOME")
  ? "looked for in ~/.runner/plugins"
  : "looked for where RUNNER_PLUGIN_DIR says";
