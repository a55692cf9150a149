/** An operand of `&&`, without the spaces around it. */
interface Operand {
  readonly start: number;
  readonly end: number;
}

/** An open bracket: a filter or another group. */
interface Level {
  operands: Operand[];
  start: number;
}

/**
 * The same JSONPath with brackets around pairs of what `&&` joins three or more times: the parser
 * reads `a && b && c` as `a && (b || c)`.
 */
export function groupAnds(path: string): string {
  const brackets: (readonly [at: number, bracket: string])[] = [];
  const levels: Level[] = [{ operands: [], start: 0 }];
  const endOperand = (end: number) => {
    const level = levels.at(-1)!;
    const text = path.slice(level.start, end);
    const start = level.start + text.length - text.trimStart().length;
    level.operands.push({ start, end: level.start + text.trimEnd().length });
  };
  const endChain = (end: number, next: number) => {
    endOperand(end);
    const level = levels.at(-1)!;
    if (level.operands.length > 2) brackets.push(...bracketsOf(level.operands));
    level.operands = [];
    level.start = next;
  };
  for (const { 0: mark, index } of path.matchAll(TOKENS)) {
    const next = index + mark.length;
    switch (mark) {
      case "&&":
        endOperand(index);
        levels.at(-1)!.start = next;
        break;
      case "||":
      case ",":
      case "?":
        endChain(index, next);
        break;
      case "(":
      case "[":
        levels.push({ operands: [], start: next });
        break;
      case ")":
      case "]":
        endChain(index, next);
        if (levels.length > 1) levels.pop();
        break;
    }
  }
  const sorted = brackets.toSorted(([a], [b]) => b - a);
  return sorted.reduce((text, [at, bracket]) => text.slice(0, at) + bracket + text.slice(at), path);
}

const TOKENS = /"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|&&|\|\||[?,()[\]]/g;

/** In halves, so that long chains do not nest deeply. */
function bracketsOf(operands: readonly Operand[]): (readonly [at: number, bracket: string])[] {
  if (operands.length < 2) return [];
  const middle = Math.ceil(operands.length / 2);
  return [operands.slice(0, middle), operands.slice(middle)].flatMap((half) =>
    half.length < 2 ? [] : [
      [half[0]!.start, "("] as const,
      ...bracketsOf(half),
      [half.at(-1)!.end, ")"] as const,
    ]
  );
}
