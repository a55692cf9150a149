import { fromFileUrl } from "@std/path/from-file-url";

const FOLDER = fromFileUrl(new URL("../tools/reports/", import.meta.url));

/**
 * What readers of others make of reports, by the names of their formats and in the same order: data
 * of `junit`, tests of `tap`, mistakes in `ctrf`, HTML of `markdown` by two renderers. They run in a
 * process of their own, whose packages are none of the program's.
 */
export async function readReports(
  reports: Readonly<Record<string, readonly string[]>>,
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--frozen", "--config", "deno.json", "read_reports.ts"],
    cwd: FOLDER,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = new Response(JSON.stringify(reports)).body!.pipeTo(child.stdin);
  const text = await new Response(child.stdout).text();
  await Promise.all([input, child.status]);
  return JSON.parse(text);
}
