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
      const folder = await Deno.realPath(made);
      await Deno.symlink(`${folder}/inside.txt`, `${folder}/in/out.txt`);
      await Deno.symlink(`${folder}/in/a.txt`, `${folder}/into.txt`);
      await Deno.symlink("../later.txt", `${folder}/in/dangling.txt`);
      await Deno.symlink("circle", `${folder}/in/circle`);
      await Deno.symlink("..", `${folder}/in/deep/up`);
      const permissions = { read: [{ path: `${folder}/in` }], write: [{ path: `${folder}/in` }] };
      const named = ["in", "in/", "in/a.txt", "in/deep/b.txt", "in/deep/../a.txt", "into.txt"]
        .concat("in/new/er.txt", "in/deep/up/a.txt", "in/new/./er.txt", "in/./deep/new.txt");
      const others = ["inside.txt", "in/../inside.txt", "in/out.txt", "in/dangling.txt", "inner"]
        .concat("in/circle", "", ".", "in/new/../../inside.txt", "in/deep/up/../inside.txt")
        .concat("in/a.txt/x/../../../inside.txt", "/", "in/new/deep/../../../in2");
      for (const kind of ["read", "write"] as const) {
        const refused = async (path: string) =>
          await pathRefusal(permissions, kind, `${folder}/${path}`, denoHost()) !== undefined;
        for (const path of named) assertEquals([path, await refused(path)], [path, false]);
        for (const path of others) assertEquals([path, await refused(path)], [path, true]);
      }
      assertEquals(await pathRefusal({}, "read", "/etc/passwd", denoHost()), undefined);
      const refusal = await pathRefusal(permissions, "write", `${folder}/in/out.txt`, denoHost());
      assertEquals(
        refusal?.message,
        `--allow-write does not name '${folder}/in/out.txt', which leads to '${folder}/inside.txt'`,
      );
    }),
});
