import {
  excerptOf,
  type Path,
  shortenExcerpt,
  type Source,
  type SourceExcerpt,
} from "../../base/source.ts";
import type { Masker } from "../../secrets/masker.ts";
import type { Positions } from "../../workflow/model.ts";
import type { Run } from "../run_state.ts";

/** The position of a value of the document of a run, or of a part of its text, with its line. */
export function locateFailure(
  { document, secrets, resources }: Run,
  path: Path,
  start?: number,
  end?: number,
): SourceExcerpt {
  const positions = document.positions();
  // A repeated step may fail ten thousand times at one place, and finding it is slow.
  const known = resources.resource(
    "places of failures",
    () => new Map<Positions, Map<string, SourceExcerpt>>(),
  );
  const places = known.getOrInsertComputed(positions, () => new Map());
  const key = JSON.stringify([path, start, end]);
  return places.getOrInsertComputed(
    key,
    () => withShortLine(findExcerpt(positions, path, start, end), secrets),
  );
}

/** A file may be one line of megabytes; more of it is never shown. */
const LONGEST_LINE = 1000;

/** Cuts a long line; secrets are masked first, so that no half of one is left. */
function withShortLine(excerpt: SourceExcerpt, secrets: Masker): SourceExcerpt {
  const { text, from, to } = excerpt;
  if (text.length <= LONGEST_LINE) return excerpt;
  const start = Math.max(0, from - LONGEST_LINE);
  const end = Math.min(text.length, from + LONGEST_LINE);
  const lengthUpTo = (offset: number) => secrets.mask(text, start, Math.min(offset, end)).length;
  return shortenExcerpt({
    ...excerpt,
    text: secrets.mask(text, start, end),
    from: lengthUpTo(from),
    to: lengthUpTo(to),
  }, LONGEST_LINE);
}

function findExcerpt(
  positions: Positions,
  path: Path,
  start?: number,
  end?: number,
): SourceExcerpt {
  const source = positions.text(path);
  if (!source || start === undefined && !isBlock(source)) return excerptOf(positions.locate(path));
  const from = start ?? 0;
  return excerptOf({ source, start: from, end: end ?? (start ?? source.text.length) });
}

/** Whether a text is a block scalar, below its `|` or `>`. */
function isBlock({ origin }: Source): boolean {
  return origin !== undefined && /[|>]/.test(origin.source.text[origin.start] ?? "");
}
