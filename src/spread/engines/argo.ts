import { RunnerError } from "../../base/errors.ts";
import {
  cleanupArguments,
  type Exported,
  renderExported,
  runArguments,
  shellLine,
} from "./exported.ts";
import { dependsOnAny, type Task } from "./tasks.ts";

/** The size limit of a ConfigMap. */
const MAX_BYTES = 1024 * 1024;

/** Writes a workflow of Argo Workflows, which mounts the files from a ConfigMap. */
export function exportJobs(exported: Exported): string {
  const { name, tasks, files, secrets } = exported;
  const { config, items } = configOf(exported);
  const document = {
    apiVersion: "argoproj.io/v1alpha1",
    kind: "Workflow",
    metadata: { generateName: `${slugOf(name)}-` },
    spec: {
      entrypoint: "graph",
      onExit: "report",
      podGC: { strategy: "OnWorkflowCompletion" },
      volumes: [
        { name: "flow", configMap: { name: config, items } },
        { name: "out", emptyDir: {} },
      ],
      templates: [
        { name: "graph", dag: { failFast: false, tasks: graphOf(tasks) } },
        prepareTemplate(exported),
        ...tasks.map((task) => taskTemplate(exported, task)),
        reportTemplate(exported),
      ],
    },
  };
  const root = rootOf(exported);
  const fromFiles = items.map(({ key }, at) => `--from-file=${key}=${root}${files[at]!.name}`);
  const taskSecrets = secrets.filter((secret) => secret !== "RUNNER_KEY");
  refuseLarge(document);
  return renderExported(exported, [
    "Before the first run:",
    `  ${shellLine(["kubectl", "create", "configmap", config, ...fromFiles])}`,
    "  kubectl create secret generic runner --from-literal=RUNNER_KEY=$(openssl rand -hex 32)" +
    taskSecrets.map((secret) => ` --from-literal=${secret}="$${secret}"`).join(""),
  ], document);
}

/** The size limit of an object of Kubernetes, which etcd keeps. */
const MAX_BYTES_OF_OBJECT = 1.5 * 1024 * 1024;

function refuseLarge(document: object): void {
  const bytes = bytesOf(JSON.stringify(document));
  if (bytes < MAX_BYTES_OF_OBJECT) return;
  throw new RunnerError(
    `the workflow for Argo has ${bytes} bytes, and Kubernetes takes less than ${MAX_BYTES_OF_OBJECT}`,
    "each task names all tasks that it depends on: give fewer needs, or make fewer jobs",
  );
}

/**
 * The directory of the volume that is mounted. At the top of a ConfigMap are links, and a suite does
 * not look for workflows behind links to directories.
 */
const FLOW = "flow";

/** The ConfigMap with the files: its keys have no slashes, so that each is mounted by its path. */
function configOf({ name, files }: Exported) {
  const bytes = files.reduce((sum, { text }) => sum + bytesOf(text), 0);
  if (bytes >= MAX_BYTES) {
    throw new RunnerError(
      `the files of the workflow have ${bytes} bytes, and a ConfigMap takes less than ${MAX_BYTES}`,
      "put them into the image",
    );
  }
  const taken = new Set<string>();
  const items = files.map(({ name: path }) => {
    if (path.startsWith("../") || path.startsWith("/")) {
      throw new RunnerError(
        `'${path}' is outside the directory of the workflow, and a ConfigMap cannot hold it`,
        "put the files into one directory",
      );
    }
    // It would do so in the volumes, in the arguments, and once more in the pods.
    if (path.includes("{{")) {
      throw new RunnerError(`Argo Workflows fills in the {{ }} of '${path}'`, "rename the file");
    }
    return { key: keyOf(path, taken), path: `${FLOW}/${path}` };
  });
  return { config: slugOf(name), items };
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/** Keys of a ConfigMap have few characters, and no slashes. */
function keyOf(path: string, taken: Set<string>): string {
  const plain = path.replaceAll("/", "__").replace(/[^\w.-]/g, "_").slice(-200);
  let key = plain;
  for (let number = 2; taken.has(key); number++) key = `${number}-${plain}`;
  taken.add(key);
  return key;
}

function slugOf(name: string): string {
  const slug = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  return slug.slice(0, 40).replace(/-+$/, "") || "workflow";
}

/** The names of the Argo tasks that make up one task. */
function namesOf({ id, parts }: Task): readonly string[] {
  return parts === 1 ? [id] : Array.from({ length: parts }, (_, at) => `${id}-part-${at + 1}`);
}

const RUN = { name: "run", from: "{{tasks.runner-prepare.outputs.artifacts.run}}" };

function graphOf(tasks: readonly Task[]): readonly object[] {
  const entries = tasks.flatMap((task) => {
    const artifacts = task.ancestors.flatMap(namesOf).map((name) => ({
      name,
      from: `{{tasks.${name}.outputs.artifacts.outputs}}`,
      ...optionalInputs(task),
    }));
    return namesOf(task).map((name, at) => ({
      name,
      template: task.id,
      depends: dependsOf(task),
      arguments: {
        ...task.parts > 1 ? { parameters: [{ name: "part", value: String(at + 1) }] } : {},
        artifacts: [RUN, ...artifacts],
      },
    }));
  });
  return [{ name: "runner-prepare", template: "runner-prepare" }, ...entries];
}

/** A task that starts although others failed may have no outputs of them. */
function optionalInputs(task: Task): { readonly optional?: true } {
  return task.startsAnyway || dependsOnAny(task) ? { optional: true } : {};
}

function dependsOf({ needs, startsAnyway }: Task): string {
  const ends = ["Succeeded", "Failed", "Errored", "Skipped", "Omitted"];
  const conditions = needs.flatMap(namesOf).map((name) =>
    startsAnyway ? `(${ends.map((end) => `${name}.${end}`).join(" || ")})` : name
  );
  return ["runner-prepare", ...conditions].join(" && ");
}

function prepareTemplate(exported: Exported): object {
  const args = ["prepare", mountedFile(exported), "--out", "/out/run.json"];
  const key = "runner/{{workflow.uid}}/run.json";
  return {
    name: "runner-prepare",
    outputs: { artifacts: [artifact("run", "/out/run.json", key)] },
    container: container(exported, args),
  };
}

function taskTemplate(exported: Exported, task: Task): object {
  const { workflow } = task;
  const choice = workflow === undefined ? task.choice : ["--only", mountedPath(workflow, exported)];
  const words = runArguments(mountedFile(exported), { ...task, choice }, {
    run: "/in/run.json",
    inputs: "/in",
    out: "/out",
  });
  const args = words.slice(1).map(literal).map((word) =>
    task.parts > 1 && word === `1/${task.parts}` ? `{{inputs.parameters.part}}/${task.parts}` : word
  );
  const key = "runner/{{workflow.uid}}/pieces/{{pod.name}}";
  return {
    name: task.id,
    inputs: {
      ...task.parts > 1 ? { parameters: [{ name: "part" }] } : {},
      artifacts: [
        { name: "run", path: "/in/run.json" },
        ...task.ancestors.flatMap(namesOf).map((name) => ({
          name,
          path: `/in/${name}/outputs.json`,
          ...optionalInputs(task),
        })),
      ],
    },
    outputs: {
      artifacts: [
        { ...artifact("outputs", "/out/outputs.json", `${key}/outputs.json`), optional: true },
        { ...artifact("events", "/out/events.ndjson", `${key}/events.ndjson`), optional: true },
      ],
    },
    container: container(exported, args),
  };
}

function reportTemplate(exported: Exported): object {
  const { last } = exported;
  const merge = [
    // Directories, since pieces and the events of the cleanup may be missing.
    ...["runner", "report", "merge", "/in/run.json", "/in"],
    ...last === undefined ? [] : ["/out"],
    ...["--report", "html=/out/report.html", "--report", "junit=/out/junit.xml"],
  ];
  const paths = { run: "/in/run.json", inputs: "/in", out: "/out" };
  const before = last && cleanupArguments(mountedFile(exported), last, paths);
  return {
    name: "report",
    inputs: {
      artifacts: [
        { name: "run", path: "/in/run.json", s3: { key: "runner/{{workflow.uid}}/run.json" } },
        {
          name: "pieces",
          path: "/in/pieces",
          optional: true,
          s3: { key: "runner/{{workflow.uid}}/pieces" },
        },
      ],
    },
    outputs: {
      artifacts: [
        { name: "report", path: "/out/report.html", optional: true, archive: { none: {} } },
        { name: "junit", path: "/out/junit.xml", optional: true, archive: { none: {} } },
      ],
    },
    container: before
      ? {
        ...container(exported, [`${shellLine(before)}; ${shellLine(merge)}`]),
        command: ["sh", "-c"],
      }
      : container(exported, merge.slice(1)),
  };
}

function artifact(name: string, path: string, key: string): object {
  return { name, path, archive: { none: {} }, s3: { key } };
}

function container({ image, secrets }: Exported, args: readonly string[]): object {
  return {
    image: image!,
    command: ["runner"],
    args: [...args],
    env: [...new Set(["RUNNER_KEY", ...secrets])].map((name) => ({
      name,
      valueFrom: { secretKeyRef: { name: "runner", key: name } },
    })),
    volumeMounts: [
      { name: "flow", mountPath: "/flow", subPath: FLOW, readOnly: true },
      { name: "out", mountPath: "/out" },
    ],
  };
}

/** Several files that are one workflow are joined by commas. */
function mountedFile({ mounted }: Exported): string {
  return mounted.split(",").map((path) => `/flow/${path}`).join(",");
}

/** The path of a workflow of a suite. */
function mountedPath(path: string, exported: Exported): string {
  const root = rootOf(exported);
  return `/flow/${path.startsWith(root) ? path.slice(root.length) : path}`;
}

/** The directory of the files, as it was named: empty or with a slash at its end. */
function rootOf({ file, mounted }: Exported): string {
  const [first = ""] = file.split(",");
  const [path = ""] = mounted.split(",");
  const root = first.slice(0, first.length - path.length);
  return root === "" || root.endsWith("/") ? root : `${root}/`;
}

/** A text in which Argo fills in nothing. */
function literal(text: string): string {
  return text.replaceAll("{{", "{{='{{'}}");
}
