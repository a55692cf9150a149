import { assertEquals } from "@std/assert";
import { toFileUrl } from "@std/path/to-file-url";
import { applyEdits } from "../support/programs/editor.ts";
import {
  type Edits,
  labels,
  type Location,
  textsAt,
  withEditor,
} from "../support/programs/editor_session.ts";

Deno.test("job files are found, and a change in one is seen by the workflow that embeds it", async () => {
  const flow = "name: a\njobs:\n  - name: b\n    steps:\n      - uses: embedded\n" +
    "        id: sub\n        with: { path: job.yml }\n        test: outputs.sub.n == 1\n";
  const job = "name: j\nsteps:\n  - uses: hello\n    id: s\n    outputs: { n: res.status }\n";
  await withEditor({ "flow.yml": flow, "job.yml": job }, async (editor, at) => {
    await editor.write(at("job.yml"), job);
    await editor.write(at("flow.yml"), flow);
    const target = await editor.askAt<Location>("definition", at("flow.yml"), "job.yml", 2);
    assertEquals(target.uri, toFileUrl(at("job.yml")).href);
  });
});

Deno.test("completion names the files that a parameter can have", async () => {
  const files = {
    "a.yml": "",
    "jobs/login.yml": "",
    "jobs/log.out.yml": "",
    "jobs/tea.json": "{}",
    "jobs/deep/x.yaml": "",
    ".hidden/x.yml": "",
    "run.sh": "",
  };
  await withEditor(files, async (editor, at) => {
    const path = at("a.yml");
    const of = (text: string, near: string) => labels(editor, path, text, near);
    const step = (uses: string) =>
      `name: a\njobs:\n  - name: b\n    steps:\n      - uses: ${uses}\n        with:\n          `;
    const embedded = step("embedded");
    assertEquals(await of(`${embedded}path: `, "path: "), ["jobs/"]);
    const inside = ["deep/", "log.out.yml", "login.yml"];
    assertEquals(await of(`${embedded}path: jobs/`, "jobs/"), inside);
    assertEquals(await of(`${embedded}path: "./jobs/log.o`, "log.o"), inside);
    assertEquals(await of(`${step("http")}file: jobs/`, "jobs/"), [...inside, "tea.json"]);
    assertEquals(await of(`${step("http")}graphql: { file: jobs/t }`, "jobs/t"), [
      ...inside,
      "tea.json",
    ]);
    assertEquals(await of(`${embedded}path: nowhere/`, "nowhere/"), []);
    assertEquals(await of(`${step("http")}url: jobs/`, "url: jobs/"), []);

    const text = `${embedded}path: jobs/log.yml # the login\n`;
    await editor.write(path, text);
    const items = await editor.askAt<{ textEdit: Edits[number] }[]>(
      ...["completion", path, "jobs/log", 8] as const,
    );
    assertEquals(applyEdits(text, [items[2]!.textEdit]), text.replace("log.yml", "login.yml"));
  });
});

Deno.test("outputs of a job file are followed from the file that embeds it", async () => {
  const job = "name: log in as {{vars.who}}\nsteps:\n  - uses: http\n    id: login\n" +
    '    with: { get: "{{vars.shop}}/{{vars.who}}" }\n    outputs: { token: res.body.token }\n' +
    "  - uses: hello\n    test: outputs.token != nil && outputs.login.token != nil\n";
  const flow = (path: string) =>
    "name: a\nvars: { shop: x }\njobs:\n  - name: b\n    steps:\n      - uses: embedded\n        id: session\n" +
    `        with: { path: ${path}, vars: { shop: "{{vars.shop}}", who: ann } }\n` +
    "        test: res.outputs.login.token != nil && res.outputs.token != nil\n" +
    "        outputs: { token: res.outputs.login.token }\n" +
    '      - uses: echo\n        with: { message: "{{outputs.token}} {{vars.shop}}" }\n';
  const files = {
    "jobs/log_in.yml": job,
    "open.yml": flow("jobs/log_in.yml"),
    "closed.yml": flow("./jobs/log_in.yml"),
    "other.yml": flow("jobs/other.yml"),
  };
  await withEditor(files, async (editor, at) => {
    const names = Object.keys(files) as (keyof typeof files)[];
    const uris = new Map(names.map((name) => [toFileUrl(at(name)).href, name]));
    for (const name of ["open.yml", "jobs/log_in.yml"] as const) {
      await editor.write(at(name), files[name]);
    }
    const places = async (method: string, name: string, near: string, into = 0) => {
      const found = await editor.askAt<Location | Location[]>(method, at(name), near, into);
      return [found].flat().map((one) => {
        const file = uris.get(one.uri)!;
        return `${file} ${textsAt(files[file], [one])}`;
      });
    };
    assertEquals(await places("definition", "open.yml", "login.token", 6), [
      "jobs/log_in.yml 6: token",
    ]);
    assertEquals(await places("definition", "open.yml", "res.outputs.token", 12), [
      "jobs/log_in.yml 6: token",
    ]);
    const outputs = async (near: string) =>
      await labels(
        editor,
        at("open.yml"),
        files["open.yml"].replace("res.outputs.token !=", near),
        near,
      );
    assertEquals(await outputs("res.outputs.t"), ["login", "token"]);
    assertEquals(await outputs("res.outputs.login."), ["token"]);
    await editor.write(at("open.yml"), files["open.yml"]);
    assertEquals(await places("definition", "open.yml", "vars.shop", 5), ["open.yml 2: shop"]);
  });
});
