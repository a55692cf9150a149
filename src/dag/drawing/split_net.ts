import type { Bottom, Net } from "./net.ts";

/** A part of a net that has one horizontal line. */
export interface NetPart {
  readonly net: number;
  readonly left: number;
  readonly right: number;
  /** Columns of lines that come to it from the top of the channel, and go to its bottom. */
  readonly tops: readonly number[];
  readonly bottoms: readonly Bottom[];
  /** The column in which a line joins it to the other part of its net. */
  readonly joint?: number;
  /** Whether that other part must lie below it. */
  readonly isUpper: boolean;
}

/**
 * The horizontal lines of a net: none if it goes straight down, two if it would otherwise join
 * lines from all four sides in one cell, which looks like a crossing.
 */
export function splitNet({ tops, bottoms }: Net, net: number): readonly NetPart[] {
  const ends = bottoms.map(({ column }) => column);
  const left = Math.min(...tops, ...ends);
  const right = Math.max(...tops, ...ends);
  if (left === right) return [];
  const doubtful = tops.filter((top) => top > left && top < right && ends.includes(top));
  const [only] = doubtful;
  if (only === undefined) return [{ net, left, right, tops, bottoms, isUpper: false }];
  const isTree = tops.length === 1 || bottoms.length === 1;
  return isTree ? splitAt(only, { tops, bottoms }, net) : splitLevels({ tops, bottoms }, net);
}

/** One line to the right of a column, and below it one to the left. */
function splitAt(joint: number, { tops, bottoms }: Net, net: number): readonly NetPart[] {
  return joinParts(
    joint,
    net,
    {
      tops: tops.filter((column) => column >= joint),
      bottoms: bottoms.filter(({ column }) => column > joint),
    },
    {
      tops: tops.filter((column) => column < joint),
      bottoms: bottoms.filter(({ column }) => column <= joint),
    },
  );
}

/** One line that collects all tops, and below it one that goes to all bottoms. */
function splitLevels({ tops, bottoms }: Net, net: number): readonly NetPart[] {
  const ends = bottoms.map(({ column }) => column);
  const last = Math.max(...tops);
  const isInside = ends.includes(last) && last > Math.min(...ends) && last < Math.max(...ends);
  const joint = isInside ? Math.max(...ends) : last;
  return joinParts(joint, net, { tops, bottoms: [] }, { tops: [], bottoms });
}

function joinParts(joint: number, net: number, upper: Net, lower: Net): readonly NetPart[] {
  const make = ({ tops, bottoms }: Net, isUpper: boolean): NetPart => {
    const columns = [joint, ...tops, ...bottoms.map(({ column }) => column)];
    return {
      net,
      tops,
      bottoms,
      joint,
      isUpper,
      left: Math.min(...columns),
      right: Math.max(...columns),
    };
  };
  return [make(upper, true), make(lower, false)];
}
