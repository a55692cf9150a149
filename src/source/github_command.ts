import type { Place } from "./source.ts";

/** How much an annotation weighs. */
export type AnnotationLevel = "error" | "warning" | "notice";

/** What GitHub shows beside a line of a file. */
export interface Annotation {
  readonly level: AnnotationLevel;
  readonly title: string;
  readonly message: string;
  readonly place?: Pick<Place, "file" | "line" | "column">;
}

/**
 * A workflow command of GitHub Actions, which becomes an annotation of a file.
 *
 * Source: https://docs.github.com/actions/reference/workflow-commands-for-github-actions
 */
export function renderAnnotation({ level, title, message, place }: Annotation): string {
  const properties = {
    ...place ? { file: place.file, line: place.line, col: place.column } : {},
    title,
  };
  const list = Object.entries(properties).map(([name, value]) =>
    `${name}=${escapeData(String(value)).replace(/:/g, "%3A").replace(/,/g, "%2C")}`
  );
  return `::${level} ${list.join(",")}::${escapeData(message)}\n`;
}

function escapeData(text: string): string {
  return text.replace(/%/g, "%25").replace(/\r/g, "%0D").replace(/\n/g, "%0A");
}
