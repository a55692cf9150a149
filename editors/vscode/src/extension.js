import * as vscode from "vscode";
import { LanguageClient } from "vscode-languageclient/node";
import { findJobs } from "./find_jobs.mjs";

let client;

const settings = () => vscode.workspace.getConfiguration("runner");

function startClient() {
  const [command, ...args] = settings().get("command");
  client = new LanguageClient(
    "runner",
    "runner",
    { command, args: [...args, "lsp"] },
    {
      documentSelector: [{ scheme: "file", language: "yaml", pattern: settings().get("files") }],
    },
  );
  return client.start().catch(() => void showHowToStart([command, ...args, "lsp"].join(" ")));
}

/** The client has shown why; this is what to do. */
async function showHowToStart(line) {
  const open = "Open the setting";
  const chosen = await vscode.window.showErrorMessage(
    `"${line}" does not start. Install runner, or name the program in the setting runner.command.`,
    open,
  );
  if (chosen === open) {
    await vscode.commands.executeCommand("workbench.action.openSettings", "runner.command");
  }
}

/** A button above each job that has an id. */
const lenses = {
  provideCodeLenses(document) {
    return findJobs(document.getText()).map(({ id, line }) =>
      new vscode.CodeLens(new vscode.Range(line, 0, line, 0), {
        title: "$(play) Run job",
        tooltip: `Run the job ${id} and the jobs that it needs`,
        command: "runner.runJob",
        arguments: [document.uri, id],
      })
    );
  },
};

/** Runs a job as a task: its output is in a terminal, and no shell reads the words. */
async function runJob(uri, id) {
  if (!vscode.workspace.isTrusted) {
    vscode.window.showWarningMessage("Jobs run commands: trust this workspace first.");
    return;
  }
  await vscode.workspace.openTextDocument(uri).then((document) => document.save());
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  const [command, ...args] = settings().get("command");
  const words = [...args, "--only", id, uri.fsPath];
  const execution = new vscode.ProcessExecution(
    command,
    words,
    folder && {
      cwd: folder.uri.fsPath,
    },
  );
  const scope = folder ?? vscode.TaskScope.Workspace;
  const task = new vscode.Task(
    { type: "runner", job: id },
    scope,
    `job ${id}`,
    "runner",
    execution,
  );
  task.presentationOptions = { clear: true, reveal: vscode.TaskRevealKind.Always };
  await vscode.tasks.executeTask(task);
}

export async function activate(context) {
  context.subscriptions.push(
    vscode.languages.registerCodeLensProvider({ scheme: "file", language: "yaml" }, lenses),
    vscode.commands.registerCommand("runner.runJob", runJob),
    vscode.commands.registerCommand("runner.restart", async () => {
      await client?.stop();
      await startClient();
    }),
  );
  await startClient();
}

export async function deactivate() {
  await client?.stop();
}
