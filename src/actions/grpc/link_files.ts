import {
  create,
  createFileRegistry,
  type DescriptorProto,
  type FieldDescriptorProto,
  type FileDescriptorProto,
  FileDescriptorSetSchema,
  type FileRegistry,
  STANDARD_FILES,
} from "./protobuf.ts";

/**
 * Makes a registry of files, adding the standard ones. Servers leave out what the library needs:
 * those in C++ and Python the JSON names, those built on protobuf.js the dependencies and the
 * packages of types. `undefinedTypes` says beforehand whether all types are there.
 */
export function linkFiles(files: readonly FileDescriptorProto[]): FileRegistry {
  const all = withStandardFiles(files);
  const owners = ownersOf(all);
  const visited = new Set<FileDescriptorProto>();
  // Each file comes after those that it depends on.
  const ordered: FileDescriptorProto[] = [];
  const visit = (file: FileDescriptorProto) => {
    if (visited.has(file)) return;
    visited.add(file);
    for (const reference of referencesOf(file)) {
      const name = resolveName(reference, owners);
      if (name === undefined) continue;
      reference.replace(name);
      visit(owners.get(name)!);
    }
    for (const [, field] of fieldsOf(file)) field.jsonName ||= jsonNameOf(field.name);
    // They may be incomplete, or name files that nothing is needed of.
    file.dependency = [];
    ordered.push(file);
  };
  all.forEach(visit);
  return createFileRegistry(create(FileDescriptorSetSchema, { file: ordered }));
}

/** The types that files refer to and none defines, by full name. */
export function undefinedTypes(files: readonly FileDescriptorProto[]): string[] {
  const all = withStandardFiles(files);
  const owners = ownersOf(all);
  const names = all.flatMap((file) => [...referencesOf(file)])
    .filter((reference) => resolveName(reference, owners) === undefined)
    .map(({ name }) => name.replace(/^\./, ""));
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

/** What names a type in a file. */
interface Reference {
  readonly name: string;
  /** The message or package around it, to which a relative name belongs. */
  readonly scope: string;
  replace(name: string): void;
}

function* referencesOf(file: FileDescriptorProto): Generator<Reference> {
  for (const [scope, field] of fieldsOf(file)) {
    const { typeName, extendee } = field;
    if (typeName) {
      yield { name: typeName, scope, replace: (name) => void (field.typeName = name) };
    }
    if (extendee) {
      yield { name: extendee, scope, replace: (name) => void (field.extendee = name) };
    }
  }
  const scope = file.package;
  for (const method of file.service.flatMap(({ method }) => method)) {
    yield { name: method.inputType, scope, replace: (name) => void (method.inputType = name) };
    yield { name: method.outputType, scope, replace: (name) => void (method.outputType = name) };
  }
}

/** The full name of a type, with a dot before it: `.demo.v1.User`. */
function resolveName(
  { name, scope }: Reference,
  owners: ReadonlyMap<string, FileDescriptorProto>,
): string | undefined {
  if (name.startsWith(".")) return owners.has(name) ? name : undefined;
  for (let around = scope;; around = around.replace(/\.?[^.]*$/, "")) {
    const full = `.${joinNames(around, name)}`;
    if (owners.has(full)) return full;
    if (around === "") return undefined;
  }
}

/** The file that defines a type, by the full name of the type with a dot before it. */
function ownersOf(files: readonly FileDescriptorProto[]): Map<string, FileDescriptorProto> {
  const owners = new Map<string, FileDescriptorProto>();
  for (const file of files) {
    for (const { name } of file.enumType) owners.set(`.${joinNames(file.package, name)}`, file);
    for (const [name, message] of messagesOf(file)) {
      owners.set(`.${name}`, file);
      for (const { name: inner } of message.enumType) owners.set(`.${name}.${inner}`, file);
    }
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

/** All fields of a file, each with the message or package around it. */
function fieldsOf(file: FileDescriptorProto): (readonly [string, FieldDescriptorProto])[] {
  return [
    ...[...messagesOf(file)].flatMap(([name, { field, extension }]) =>
      [...field, ...extension].map((one) => [name, one] as const)
    ),
    ...file.extension.map((one) => [file.package, one] as const),
  ];
}

/** The full name of a type in a package or a message. */
export function joinNames(around: string, name: string): string {
  return around === "" ? name : `${around}.${name}`;
}
