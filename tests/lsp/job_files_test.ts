import { assertEquals, assertRejects } from "@std/assert";
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
    const found = await editor.askAt<Location[]>("references", at("flow.yml"), "job.yml", 2, {
      context: { includeDeclaration: true },
    });
    assertEquals(textsAt(flow, found), ["7: job.yml"]);
  });
});

Deno.test("references of a job file are found in workflows that are not open", async () => {
  const flow = (path: string) =>
    `name: a\njobs: [{ name: b, steps: [{ uses: embedded, with: { path: ${path} } }] }]\n`;
  const files = {
    "open.yml": flow("jobs/one.yml"),
    "closed.yml": flow("./jobs/one.yml"),
    "other.yaml": flow("jobs/two.yml"),
    "broken.yml": `${flow("jobs/one.yml")}  - [`,
    "notes.txt": flow("jobs/one.yml"),
    "jobs/one.yml": "name: j\nsteps: [{ uses: hello }]\n",
  };
  await withEditor(files, async (editor, at) => {
    await editor.write(at("open.yml"), files["open.yml"]);
    const found = await editor.askAt<Location[]>("references", at("open.yml"), "one.yml", 2, {
      context: { includeDeclaration: true },
    });
    const names = ["open.yml", "broken.yml", "closed.yml"];
    assertEquals(found.map(({ uri }) => uri), names.map((name) => toFileUrl(at(name)).href));
    assertEquals(textsAt(files["closed.yml"], found.slice(2)), ["2: ./jobs/one.yml"]);
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

Deno.test("outputs and vars of a job file are followed into the files that embed it, and back", async () => {
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
      const found = await editor.askAt<Location | Location[]>(method, at(name), near, into, {
        context: { includeDeclaration: true },
      });
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
    assertEquals(await places("definition", "jobs/log_in.yml", "vars.who", 5), [
      "open.yml 8: who",
      "closed.yml 8: who",
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
    const tokens = ["open.yml 9: token", "open.yml 9: token", "open.yml 10: token"];
    assertEquals(await places("references", "jobs/log_in.yml", "token: res", 1), [
      "jobs/log_in.yml 6: token",
      "jobs/log_in.yml 8: token",
      "jobs/log_in.yml 8: token",
      ...tokens,
      ...tokens.map((one) => one.replace("open", "closed")),
    ]);
    const renamed = async (name: string, near: string, into: number, newName: string) => {
      const { changes } = await editor.askAt<{ changes: Record<string, Edits> }>(
        ...["rename", at(name), near, into] as const,
        { newName },
      );
      return Object.fromEntries(
        Object.entries(changes).map(([uri, edits]) => {
          const file = uris.get(uri)!;
          return [file, applyEdits(files[file], edits)];
        }),
      );
    };
    const swap = (text: string, pairs: readonly (readonly [string, string])[]) =>
      pairs.reduce((all, [from, to]) => all.replaceAll(from, to), text);
    const inFlow = [["login.token", "login.key"], [
      "res.outputs.token",
      "res.outputs.key",
    ]] as const;
    const expected = {
      "jobs/log_in.yml": swap(job, [
        ["{ token", "{ key"],
        ["outputs.token", "outputs.key"],
        ["login.token", "login.key"],
      ]),
      "open.yml": swap(files["open.yml"], inFlow),
      "closed.yml": swap(files["closed.yml"], inFlow),
    };
    assertEquals(await renamed("jobs/log_in.yml", "token: res", 1, "key"), expected);
    assertEquals(await renamed("open.yml", "login.token", 6, "key"), expected);
    assertEquals(await renamed("open.yml", "who: ann", 1, "customer"), {
      "jobs/log_in.yml": job.replaceAll("vars.who", "vars.customer"),
      "open.yml": files["open.yml"].replace("who: ann", "customer: ann"),
      "closed.yml": files["closed.yml"].replace("who: ann", "customer: ann"),
    });
    assertEquals(Object.keys(await renamed("open.yml", "token: res", 1, "key")), ["open.yml"]);
    assertEquals(Object.keys(await renamed("open.yml", "shop: x", 1, "url")), ["open.yml"]);
    await assertRejects(() => renamed("open.yml", "login.token", 1, "log-in"), Error, "letters");
  });
});
