import { assert, assertEquals } from "@std/assert";

/** The keys that our files for Argo may have, as its reference documents them. */
type Keys = true | { readonly [key: string]: Keys };

const ARGO_ARTIFACT: Keys = {
  ...{ name: true, path: true, from: true, optional: true },
  ...{ archive: { none: {} }, s3: { key: true } },
};
const ARGO_PARAMETERS: Keys = { name: true, value: true };
const ARGO: Keys = {
  apiVersion: true,
  kind: true,
  metadata: { generateName: true },
  spec: {
    entrypoint: true,
    onExit: true,
    podGC: { strategy: true },
    volumes: {
      name: true,
      configMap: { name: true, items: { key: true, path: true } },
      emptyDir: {},
    },
    templates: {
      name: true,
      dag: {
        failFast: true,
        tasks: {
          ...{ name: true, template: true, depends: true },
          arguments: { parameters: ARGO_PARAMETERS, artifacts: ARGO_ARTIFACT },
        },
      },
      inputs: { parameters: ARGO_PARAMETERS, artifacts: ARGO_ARTIFACT },
      outputs: { artifacts: ARGO_ARTIFACT },
      container: {
        ...{ image: true, command: true, args: true },
        env: { name: true, valueFrom: { secretKeyRef: { name: true, key: true } } },
        volumeMounts: { name: true, mountPath: true, subPath: true, readOnly: true },
      },
    },
  },
};

/** The paths of keys that are not among those allowed; items of lists have those of the list. */
function unknownKeys(value: unknown, keys: Keys, path = ""): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((item) => unknownKeys(item, keys, path));
  if (typeof value !== "object" || value === null) return keys === true ? [] : [`${path}: scalar`];
  return Object.entries(value).flatMap(([key, part]) => {
    const location = `${path}.${key}`;
    if (keys === true || !Object.hasOwn(keys, key)) return [location];
    return unknownKeys(part, keys[key]!, location);
  });
}

/** Every reference of a file for Argo leads somewhere, and no key is unknown. */
// deno-lint-ignore no-explicit-any
export function assertArgo(document: any): void {
  const { templates } = document.spec;
  // deno-lint-ignore no-explicit-any
  const byName = new Map<string, any>(templates.map((template: any) => [template.name, template]));
  const { tasks } = byName.get("graph").dag;
  // deno-lint-ignore no-explicit-any
  const names = new Set(tasks.map((task: any) => task.name));
  for (const task of tasks) {
    const template = byName.get(task.template);
    assert(template, task.template);
    const artifacts = (task.arguments?.artifacts ?? []).map(({ name }: { name: string }) => name);
    assertEquals(
      (template.inputs?.artifacts ?? []).map(({ name }: { name: string }) => name),
      artifacts,
    );
    for (const { from } of task.arguments?.artifacts ?? []) {
      const [, of, artifact] = /^\{\{tasks\.(.+)\.outputs\.artifacts\.(.+)\}\}$/.exec(from)!;
      assert(names.has(of), of);
      // deno-lint-ignore no-explicit-any
      const source = byName.get(tasks.find((other: any) => other.name === of).template);
      assert(
        source.outputs.artifacts.some(({ name }: { name: string }) => name === artifact),
        artifact,
      );
    }
    for (const [need] of (task.depends ?? "").matchAll(/[A-Za-z][\w-]*/g)) {
      assert(
        names.has(need) || /^(Succeeded|Failed|Errored|Skipped|Omitted)$/.test(need),
        task.depends,
      );
    }
  }
  assertEquals(byName.size, templates.length);
  assertEquals(unknownKeys(document, ARGO), []);
  const misspelt = { ...document, spec: { ...document.spec, onExits: "report" } };
  assertEquals(unknownKeys(misspelt, ARGO), [".spec.onExits"]);
}
