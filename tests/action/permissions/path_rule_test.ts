import { assertEquals } from "@std/assert";
import { pathRefusal } from "../../../src/action/permissions/path_rule.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import { withFiles } from "../../support/temp_dir.ts";

Deno.test({
  name: "a rule for paths covers what they lead to, and nothing beside",
  // It takes rights to make links there.
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFiles({ "in/a.txt": "", "in/deep/b.txt": "", "inside.txt": "" }, async (made) => {
      const directory = await Deno.realPath(made);
      await Deno.symlink(`${directory}/inside.txt`, `${directory}/in/out.txt`);
      await Deno.symlink(`${directory}/in/a.txt`, `${directory}/into.txt`);
      await Deno.symlink("../later.txt", `${directory}/in/dangling.txt`);
      await Deno.symlink("circle", `${directory}/in/circle`);
      await Deno.symlink("..", `${directory}/in/deep/up`);
      const permissions = {
        read: [{ path: `${directory}/in` }],
        write: [{ path: `${directory}/in` }],
      };
      const named = ["in", "in/", "in/a.txt", "in/deep/b.txt", "in/deep/../a.txt", "into.txt"]
        .concat("in/new/er.txt", "in/deep/up/a.txt", "in/new/./er.txt", "in/./deep/new.txt");
      const others = ["inside.txt", "in/../inside.txt", "in/out.txt", "in/dangling.txt", "inner"]
        .concat("in/circle", "", ".", "in/new/../../inside.txt", "in/deep/up/../inside.txt")
        .concat("in/a.txt/x/../../../inside.txt", "/", "in/new/deep/../../../in2");
      for (const kind of ["read", "write"] as const) {
        const refused = async (path: string) =>
          await pathRefusal(permissions, kind, `${directory}/${path}`, denoHost()) !== undefined;
        for (const path of named) assertEquals([path, await refused(path)], [path, false]);
        for (const path of others) assertEquals([path, await refused(path)], [path, true]);
      }
      assertEquals(await pathRefusal({}, "read", "/etc/passwd", denoHost()), undefined);
      const refusal = await pathRefusal(
        permissions,
        "write",
        `${directory}/in/out.txt`,
        denoHost(),
      );
      assertEquals(
        refusal?.message,
        `--allow-write does not name '${directory}/in/out.txt', which leads to '${directory}/inside.txt'`,
      );
    }),
});
