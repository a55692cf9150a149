import type { SourceExcerpt } from "../source.ts";

export type AnnotationLevel = "error" | "warning" | "notice";

/** The maximum number of annotations that GitHub shows for one step. */
export const MAX_ANNOTATIONS = 10;

/** An annotation that GitHub shows beside a line of a file. */
export interface Annotation {
  readonly level: AnnotationLevel;
  readonly title: string;
  readonly message: string;
  /** Without a line it is about all of the file. */
  readonly location?: Pick<SourceExcerpt, "file"> & Partial<Pick<SourceExcerpt, "line" | "column">>;
}

/**
 * A workflow command of GitHub Actions, which becomes an annotation of a file.
 *
 * Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function renderAnnotation({ level, title, message, location }: Annotation): string {
  const { file, line, column: col } = location ?? {};
  const properties = { file, line, col, title };
  const list = Object.entries(properties).flatMap(([name, value]) =>
    value === undefined
      ? []
      : `${name}=${escapeData(String(value)).replace(/:/g, "%3A").replace(/,/g, "%2C")}`
  );
  return `::${level} ${list.join(",")}::${escapeData(message)}\n`;
}

function escapeData(text: string): string {
  return text.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
}

/**
 * Annotations name files from the root of the repository: makes such a path of one from `directory`,
 * where the root is known.
 */
export function pathsFromRoot(
  directory: string,
  root: string | undefined,
): (path: string) => string {
  return (path) => {
    const whole = withoutDots(path.startsWith("/") ? path : `${directory}/${path}`);
    return root && whole.startsWith(`${root}/`) ? whole.slice(root.length + 1) : path;
  };
}

function withoutDots(path: string): string {
  const parts: string[] = [];
  for (const part of path.split("/")) {
    if (part === "..") parts.pop();
    else if (part !== "." && part !== "") parts.push(part);
  }
  return `/${parts.join("/")}`;
}
