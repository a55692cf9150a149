// An extension that tests the other one, in the extension host of VS Code; run.mjs starts it.
const assert = require("node:assert/strict");
const { readFile, writeFile } = require("node:fs/promises");
const { join } = require("node:path");
const vscode = require("vscode");

const FLOW = `name: A flow
jobs:
  - name: Greet
    id: greet
    steps:
      - uses: http
        id: login
        with: { get: "http://127.0.0.1:9" }
        test: res.code == 200
        outputs: { session: res.body }
      - uses: hello
        test: outputs.sesion == 1
  - name: Say
    id: say
    steps:
      - { uses: shell, with: { cmd: "echo done > done.txt" }, test: res.code == 0 }
`;

/** Asks until there is an answer that fits: the language server takes a moment. */
async function until(ask, fits) {
  for (const end = Date.now() + 60_000;;) {
    const answer = await ask();
    if (fits(answer)) return answer;
    if (Date.now() > end) throw new Error(`no answer fits, the last: ${JSON.stringify(answer)}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

const tests = {
  async "a misspelt output is marked, and a quick fix corrects it"({ document, at }) {
    const problem = await until(
      () =>
        vscode.languages.getDiagnostics(document.uri)
          .find(({ code }) => code === "unpublished-output"),
      Boolean,
    );
    assert.match(problem.message, /no step publishes "sesion"/);
    const actions = await vscode.commands.executeCommand(
      "vscode.executeCodeActionProvider",
      document.uri,
      new vscode.Range(at("sesion"), at("sesion")),
    );
    const fix = actions.find(({ title }) => title === "Change to session");
    assert.ok(await vscode.workspace.applyEdit(fix.edit));
    assert.match(document.getText(), /outputs\.session == 1/);
  },
  async "hover shows the type and the meaning of a field"({ document, at }) {
    const hovers = await vscode.commands.executeCommand(
      "vscode.executeHoverProvider",
      document.uri,
      at("res.code", 5),
    );
    const text = hovers.flatMap(({ contents }) => contents.map(({ value }) => value)).join("\n");
    assert.match(text, /`res\.code`: integer/);
  },
  async "completion offers http first, with the rest of the step"({ document, at }) {
    const { items } = await vscode.commands.executeCommand(
      "vscode.executeCompletionItemProvider",
      document.uri,
      at("uses: hello", 6),
    );
    const actions = items.filter(({ label }) => ["http", "hello"].includes(label));
    actions.sort((one, other) => one.sortText < other.sortText ? -1 : 1);
    assert.deepEqual(actions.map(({ label }) => label), ["http", "hello"]);
  },
  async "the button above a job runs that job"({ document, folder }) {
    const lenses = await vscode.commands.executeCommand(
      "vscode.executeCodeLensProvider",
      document.uri,
    );
    assert.deepEqual(lenses.map(({ range }) => range.start.line), [2, 12]);
    const { command, arguments: args } = lenses[1].command;
    const ended = new Promise((resolve) => vscode.tasks.onDidEndTask(resolve));
    await vscode.commands.executeCommand(command, ...args);
    await ended;
    const done = join(folder.uri.fsPath, "done.txt");
    assert.equal(await until(() => readFile(done, "utf8").catch(() => ""), Boolean), "done\n");
  },
};

exports.activate = async () => {
  const results = [];
  const [folder] = vscode.workspace.workspaceFolders;
  const uri = vscode.Uri.joinPath(folder.uri, "flow.yml");
  await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(FLOW));
  const document = await vscode.workspace.openTextDocument(uri);
  await vscode.window.showTextDocument(document);
  const at = (near, into = 0) => document.positionAt(FLOW.indexOf(near) + into);
  for (const [name, test] of Object.entries(tests)) {
    const error = await test({ document, folder, at }).then(() => undefined, String);
    results.push({ name, error });
  }
  await writeFile(process.env.RESULTS, JSON.stringify(results));
};
