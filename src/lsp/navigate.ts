import type { Mention, Outline } from "./outline.ts";

/** The name at an offset that a workflow defines or uses. */
export function findMention({ mentions }: Outline, offset: number): Mention | undefined {
  return mentions.findLast(({ start, end }) => start <= offset && offset <= end);
}

/** All places that are about the same thing, in the order of the file. */
export function mentionsOf(outline: Outline, of: Mention): readonly Mention[] {
  return outline.mentions.filter((one) => isSame(outline, one, of));
}

/** Whether two mentions are about the same thing of the file with that outline. */
export function isSame(outline: Outline, one: Mention, other: Mention): boolean {
  return one.kind === other.kind && one.name === other.name &&
    stepOf(outline, one) === stepOf(outline, other);
}

/** Whose output is meant: that of the first step that publishes it, where it is read by its name. */
function stepOf({ mentions }: Outline, { kind, name, step }: Mention): string | undefined {
  if (kind !== "output" || step !== undefined) return step;
  return mentions.find((one) => one.kind === "output" && one.name === name && one.isDefinition)
    ?.step;
}

function isReadAlone({ kind, step, isDefinition }: Mention): boolean {
  return kind === "output" && step === undefined && !isDefinition;
}

/** The text of a file around a mention in it. */
interface Placed {
  readonly file: { readonly outline: Outline };
  readonly mention: Mention;
}

/** Why a name cannot be had in the file that defines it; undefined if it can. */
export function nameProblem(
  outline: Outline,
  of: Mention,
  places: readonly Placed[],
  name: string,
): string | undefined {
  const isStep = of.kind === "step";
  if (isStep && !/^[a-z0-9_-]+$/.test(name)) {
    return `the step id "${name}" must be made of a-z, 0-9, _ and -`;
  }
  if (!/^[\p{L}\p{N}_][\p{L}\p{N}_.-]*$/u.test(name)) return `invalid name "${name}"`;
  const isRead = places.some(({ file: { outline: { text } }, mention: { start } }) =>
    /[.]\s*$/.test(text.slice(Math.max(0, start - 20), start))
  );
  if (isRead && !/^[A-Za-z_]\w*$/.test(name)) {
    return `expressions read it as .${of.name}, and cannot read .${name}: use letters, digits and _`;
  }
  const own = places.filter(({ file }) => file.outline === outline).map(({ mention }) => mention);
  // An output that is read by its name alone belongs to the first step that publishes it.
  const isAmbiguous = name !== of.name && (isStep || of.kind === "output") &&
    outline.mentions.some((one) =>
      one.name === name &&
      (isReadAlone(one) || own.some(isReadAlone) && /^(?:step|output)$/.test(one.kind))
    );
  if (isAmbiguous) return `outputs.${name} would have two meanings`;
  const isTaken = name !== of.name &&
    outline.mentions.some((one) =>
      one.isDefinition && one.kind === of.kind && one.name === name &&
      (one.kind !== "output" || one.step === of.step || of.step === undefined)
    );
  return isTaken ? `"${name}" is already defined` : undefined;
}
