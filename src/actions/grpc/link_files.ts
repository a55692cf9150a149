import {
  create,
  createFileRegistry,
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  STANDARD_FILES,
} from "./protobuf.ts";

/** Descriptors in which everything that is referred to is found by name. */
export type FileRegistry = ReturnType<typeof createFileRegistry>;

/**
 * Makes a registry of files, adding the standard ones. Servers leave out what the library needs:
 * those in C++ and Python the JSON names, those built on protobuf.js the dependencies and the
 * packages of types. `undefinedTypes` says beforehand whether all types are there.
 */
export function linkFiles(files: readonly FileDescriptorProto[]): FileRegistry {
  const all = withStandardFiles(files);
  const owners = ownersOf(all);
  const names = new Set(all.map(({ name }) => name));
  for (const file of all) {
    const needed = new Set(file.dependency);
    for (const reference of referencesOf(file)) {
      const name = resolveName(reference, owners);
      if (name === undefined) continue;
      reference.replace(name);
      needed.add(owners.get(name)!);
    }
    needed.delete(file.name);
    file.dependency = [...needed].filter((name) => names.has(name));
    for (const field of fieldsOf(file)) field.jsonName ||= jsonNameOf(field.name);
  }
  return createFileRegistry(create(FileDescriptorSetSchema, { file: inOrder(all) }));
}

/** The types that files refer to and none defines, by full name. */
export function undefinedTypes(files: readonly FileDescriptorProto[]): string[] {
  const all = withStandardFiles(files);
  const owners = ownersOf(all);
  const names = all.flatMap((file) =>
    [...referencesOf(file)]
      .filter((reference) => resolveName(reference, owners) === undefined)
      .map(({ name }) => name.replace(/^\./, ""))
  );
  return [...new Set(names)];
}

/** The name of a field in JSON, where its file does not say. */
export function jsonNameOf(name: string): string {
  return name.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase());
}

function withStandardFiles(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const names = new Set(files.map(({ name }) => name));
  return [...STANDARD_FILES.filter(({ name }) => !names.has(name)), ...files];
}

/** A place in a file that names a type. */
interface Reference {
  readonly name: string;
  /** The message or package around it, to which a relative name belongs. */
  readonly scope: string;
  replace(name: string): void;
}

function* referencesOf(file: FileDescriptorProto): Generator<Reference> {
  for (const [scope, message] of messagesOf(file)) {
    yield* referencesOfFields([...message.field, ...message.extension], scope);
  }
  yield* referencesOfFields(file.extension, file.package);
  for (const method of file.service.flatMap(({ method }) => method)) {
    const { inputType, outputType } = method;
    const scope = file.package;
    yield { name: inputType, scope, replace: (name) => void (method.inputType = name) };
    yield { name: outputType, scope, replace: (name) => void (method.outputType = name) };
  }
}

function* referencesOfFields(
  fields: readonly FieldDescriptorProto[],
  scope: string,
): Generator<Reference> {
  for (const field of fields) {
    const { typeName, extendee } = field;
    if (typeName) {
      yield { name: typeName, scope, replace: (name) => void (field.typeName = name) };
    }
    if (extendee) {
      yield { name: extendee, scope, replace: (name) => void (field.extendee = name) };
    }
  }
}

/** The full name of a type, with a dot before it: `.demo.v1.User`. */
function resolveName(
  { name, scope }: Reference,
  owners: ReadonlyMap<string, string>,
): string | undefined {
  if (name.startsWith(".")) return owners.has(name) ? name : undefined;
  for (let around = scope;; around = around.replace(/\.?[^.]*$/, "")) {
    const full = `${around === "" ? "" : `.${around}`}.${name}`;
    if (owners.has(full)) return full;
    if (around === "") return undefined;
  }
}

/** The name of the file that defines a type, by the full name of the type. */
function ownersOf(files: readonly FileDescriptorProto[]): Map<string, string> {
  const owners = new Map<string, string>();
  for (const file of files) {
    const enums = file.enumType.map(({ name }) => joinNames(file.package, name));
    for (const [name, message] of messagesOf(file)) {
      enums.push(name, ...message.enumType.map((one) => joinNames(name, one.name)));
    }
    for (const name of enums) owners.set(`.${name}`, file.name);
  }
  return owners;
}

/** All messages of a file with their full names, nested ones too. */
function* messagesOf(file: FileDescriptorProto): Generator<readonly [string, DescriptorProto]> {
  const pending = file.messageType.map((message) => [file.package, message] as const);
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [around, message] = next;
    const name = joinNames(around, message.name);
    yield [name, message];
    pending.push(...message.nestedType.map((nested) => [name, nested] as const));
  }
}

function fieldsOf(file: FileDescriptorProto): FieldDescriptorProto[] {
  return [...messagesOf(file)].flatMap(([, { field, extension }]) => [...field, ...extension])
    .concat(file.extension);
}

function joinNames(around: string, name: string): string {
  return around === "" ? name : `${around}.${name}`;
}

/** The files, each after those that it depends on. */
function inOrder(files: readonly FileDescriptorProto[]): FileDescriptorProto[] {
  const byName = new Map(files.map((file) => [file.name, file]));
  const ordered = new Set<FileDescriptorProto>();
  const visited = new Set<string>();
  const visit = (name: string) => {
    const file = byName.get(name);
    if (!file || visited.has(name)) return;
    visited.add(name);
    file.dependency.forEach(visit);
    ordered.add(file);
  };
  for (const name of byName.keys()) visit(name);
  return [...ordered];
}
