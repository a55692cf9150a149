import type {
  Comparable,
  FilterQuery,
  FunctionArgument,
  FunctionExpr,
  JsonPathQuery,
  LogicalExpr,
  Segment,
  Selector,
  SingularQuerySegment,
} from "./json_path_tree.ts";
import { compareValues, isEqual } from "../../../value/compare.ts";
import { plain, readField } from "../../../value/plain.ts";
import { isDict, type Value } from "../../../value/value.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { loadRegexEngine, matchesRegex, regexProblem } from "../../evaluate/regex.ts";
import { countCharacters } from "../../evaluate/text_operations.ts";
import { Fault } from "../../fault.ts";
import { LIMITS } from "../../expression_limits.ts";
import { groupAnds } from "./group_ands.ts";
import { pathProblem, toRegex } from "./json_path_check.ts";

let parser: ((path: string) => JsonPathQuery) | undefined;
const parsed = new Map<string, JsonPathQuery | Fault>();
const CACHE_SIZE = 100;
const PARSE_COST = 1000;

/** Loads what reads JSONPaths, which few workflows need. */
export async function loadJsonPath(): Promise<void> {
  await loadRegexEngine();
  parser ??= (await import("jsonpath-rfc9535/parser")).default as (path: string) => JsonPathQuery;
}

/** The problem of a JSONPath; undefined if there is none, or before the parser is loaded. */
export function jsonPathProblem(path: string): string | undefined {
  if (!parser) return undefined;
  const query = parse(path);
  return query instanceof Fault ? query.message : undefined;
}

/** The values that a path of RFC 9535 finds. */
export function selectByPath(run: Evaluation, value: Value, path: string): Value {
  if (!parsed.has(path)) run.spend(PARSE_COST);
  const query = parse(path);
  if (query instanceof Fault) throw query;
  if (value === null) throw new Fault("argument 1 of json_path() must not be nil");
  return new Search(run, value).select(value, query.segments).map((found) => found.value);
}

/** The paths of the values that a path of RFC 9535 finds: keys and indexes, from the outside. */
export function locateByPath(
  run: Evaluation,
  value: Value,
  path: string,
): readonly (readonly (string | number)[])[] {
  const query = parse(path);
  if (query instanceof Fault) throw query;
  return new Search(run, value).select(value, query.segments).map(pathOf);
}

/** A value, and where it was found. */
interface Found {
  readonly value: Value;
  readonly inside?: Found;
  readonly key?: string | number;
}

function pathOf({ inside, key }: Found): (string | number)[] {
  return inside && key !== undefined ? [...pathOf(inside), key] : [];
}

function parse(path: string): JsonPathQuery | Fault {
  if (!parser) throw new Error("jsonpath-rfc9535 is not loaded");
  const known = parsed.get(path);
  if (known) return known;
  const query = parseNew(path, parser);
  if (parsed.size >= CACHE_SIZE) parsed.delete(parsed.keys().next().value!);
  parsed.set(path, query);
  return query;
}

/** Without the path in the messages, which may hold a secret. */
function parseNew(path: string, parser: (path: string) => JsonPathQuery): JsonPathQuery | Fault {
  if (path.length > LIMITS.pattern) {
    return new Fault(`the JSONPath is longer than ${LIMITS.pattern} characters`);
  }
  if (!path.startsWith("$")) return new Fault('invalid JSONPath: it must start with "$"');
  const grouped = path.includes("&&") ? groupAnds(path) : path;
  if (nestingOf(grouped) > MOST_NESTING) {
    return new Fault(`invalid JSONPath: more than ${MOST_NESTING} brackets inside each other`);
  }
  let query: JsonPathQuery;
  try {
    query = parser(path);
    if (grouped !== path) query = parser(grouped);
  } catch (error) {
    const at = (error as { location?: { start: { offset: number } } }).location?.start.offset;
    if (at === undefined) return new Fault("invalid JSONPath");
    const reason = at >= path.length
      ? "it ends too early"
      : `unexpected text at character ${[...path.slice(0, at)].length + 1}`;
    return new Fault(`invalid JSONPath: ${reason}`);
  }
  const problem = pathProblem(query);
  return problem === undefined ? query : new Fault(`invalid JSONPath: ${problem}`);
}

/** The parser's time grows with the power of it. */
const MOST_NESTING = 6;

/** The maximum depth of nested brackets. */
function nestingOf(path: string): number {
  let depth = 0;
  let most = 0;
  for (const [mark] of path.matchAll(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[[\]()]/g)) {
    if (mark === "[" || mark === "(") depth++;
    if (mark === "]" || mark === ")") depth--;
    most = Math.max(most, depth);
  }
  return most;
}

/** The search in one document; every value that it looks at is paid for. */
class Search {
  readonly #run: Evaluation;
  readonly #root: Value;

  constructor(run: Evaluation, root: Value) {
    this.#run = run;
    this.#root = root;
  }

  select(from: Value, segments: readonly Segment[]): Found[] {
    let nodes: Found[] = [{ value: from }];
    for (const { type, node } of segments) {
      const selectors = node.type === "BracketedSelection" ? node.selectors : [node];
      const starts = type === "DescendantSegment"
        ? nodes.flatMap((each) => [...this.#descendants(each)])
        : nodes;
      nodes = starts.flatMap((start) =>
        selectors.flatMap((selector) => [...this.#pick(start, selector)])
      );
    }
    return nodes;
  }

  /** Without recursion, in which each value would cost as much as it is deep. */
  *#descendants(start: Found): Generator<Found> {
    const open = [start];
    for (let found = open.pop(); found; found = open.pop()) {
      yield found;
      for (const child of [...this.#children(found)].reverse()) open.push(child);
    }
  }

  *#children(inside: Found): Generator<Found> {
    const { value } = inside;
    this.#run.spend(1);
    if (Array.isArray(value)) {
      for (const [key, item] of value.entries()) {
        this.#run.spend(1);
        yield { value: plain(item), inside, key };
      }
    } else if (isDict(value)) {
      for (const key of Object.keys(value)) {
        this.#run.spend(1);
        const child = readField(value, key);
        if (child !== undefined) yield { value: child, inside, key };
      }
    }
  }

  *#pick(
    inside: Found,
    selector: Selector | { type: "MemberNameShorthand"; value: string },
  ): Generator<Found> {
    const { value } = inside;
    this.#run.spend(1);
    switch (selector.type) {
      case "WildcardSelector":
        yield* this.#children(inside);
        return;
      case "SliceSelector":
        if (Array.isArray(value)) yield* this.#slice(inside, value, selector);
        return;
      case "FilterSelector":
        for (const child of this.#children(inside)) {
          if (this.#isTrue(selector.value, child.value)) yield child;
        }
        return;
      default: {
        const found = read(value, selector.value);
        if (found !== undefined) yield { value: found, inside, key: keyOf(value, selector.value) };
      }
    }
  }

  *#slice(
    inside: Found,
    list: readonly Value[],
    { start, end, step }: { start: number | null; end: number | null; step: number | null },
  ): Generator<Found> {
    const by = step ?? 1;
    if (by === 0) return;
    const { length } = list;
    const place = (index: number, least: number, most: number) =>
      Math.min(Math.max(index < 0 ? length + index : index, least), most);
    const [first, last] = by > 0
      ? [place(start ?? 0, 0, length), place(end ?? length, 0, length)]
      : [
        place(start ?? length - 1, -1, length - 1),
        end === null ? -1 : place(end, -1, length - 1),
      ];
    for (let index = first; by > 0 ? index < last : index > last; index += by) {
      this.#run.spend(1);
      yield { value: plain(list[index]), inside, key: index };
    }
  }

  #isTrue(test: LogicalExpr, here: Value): boolean {
    this.#run.spend(1);
    switch (test.type) {
      case "LogicalOrExpr":
        return this.#isTrue(test.left, here) || this.#isTrue(test.right, here);
      case "LogicalAndExpr":
        return this.#isTrue(test.left, here) && this.#isTrue(test.right, here);
      case "LogicalNotExpr":
        return !this.#isTrue(test.expression, here);
      case "TestExpr":
        return test.expression.type === "FunctionExpr"
          ? this.#call(test.expression, here) === true
          : this.#query(test.expression, here).length > 0;
      case "ComparisonExpr":
        return this.#compare(
          this.#operand(test.left, here),
          this.#operand(test.right, here),
          test.op,
        );
    }
  }

  #compare(a: Value | undefined, b: Value | undefined, operator: string): boolean {
    const equal = () => a === undefined || b === undefined ? a === b : isEqual(a, b, this.#run);
    const less = (x: Value | undefined, y: Value | undefined) =>
      (typeof x === "number" && typeof y === "number" ||
        typeof x === "string" && typeof y === "string") && compareValues(x, y)! < 0;
    switch (operator) {
      case "==":
        return equal();
      case "!=":
        return !equal();
      case "<":
        return less(a, b);
      case ">":
        return less(b, a);
      case "<=":
        return less(a, b) || equal();
      default:
        return less(b, a) || equal();
    }
  }

  /** Undefined where there is nothing. */
  #operand(operand: Comparable, here: Value): Value | undefined {
    switch (operand.type) {
      case "Literal":
        return operand.value;
      case "FunctionExpr":
        return this.#call(operand, here);
      case "RelSingularQuery":
        return this.#follow(here, operand.segments);
      case "AbsSingularQuery":
        return this.#follow(this.#root, operand.segments);
    }
  }

  #follow(from: Value, segments: readonly SingularQuerySegment[]): Value | undefined {
    let value: Value | undefined = from;
    for (const { node } of segments) {
      this.#run.spend(1);
      const key = "selector" in node ? node.selector.value : node.value;
      if (value !== undefined) value = read(value, key);
    }
    return value;
  }

  #query({ value }: FilterQuery, here: Value): Value[] {
    const from = value.type === "RelQuery" ? here : this.#root;
    return this.select(from, value.segments).map((found) => found.value);
  }

  #call({ name, arguments: args }: FunctionExpr, here: Value): Value | undefined {
    const [first, second] = args as [FunctionArgument, FunctionArgument];
    switch (name) {
      case "count":
        return this.#query(first as FilterQuery, here).length;
      case "value":
        return this.#only(first as FilterQuery, here);
      case "length": {
        const value = this.#argument(first, here);
        if (typeof value === "string") {
          this.#run.spend(value.length >> 6);
          return countCharacters(value);
        }
        if (Array.isArray(value)) return value.length;
        return isDict(value) ? Object.keys(value).length : undefined;
      }
      default:
        return this.#matches(
          this.#argument(first, here),
          this.#argument(second, here),
          name === "match",
        );
    }
  }

  #argument(argument: FunctionArgument, here: Value): Value | undefined {
    if (argument.type === "FilterQuery") return this.#only(argument, here);
    return this.#operand(argument as Comparable, here);
  }

  #only(query: FilterQuery, here: Value): Value | undefined {
    const found = this.#query(query, here);
    return found.length === 1 ? found[0] : undefined;
  }

  #matches(text: Value | undefined, pattern: Value | undefined, whole: boolean): boolean {
    if (typeof text !== "string" || typeof pattern !== "string") return false;
    this.#run.spend(pattern.length);
    const regex = toRegex(pattern, whole);
    return regexProblem(regex) === undefined && matchesRegex(text, regex, this.#run);
  }
}

/** The index that a negative one means, and any other key as it is. */
function keyOf(value: Value, key: string | number): string | number {
  return typeof key === "number" && key < 0 && Array.isArray(value) ? value.length + key : key;
}

function read(value: Value, key: string | number): Value | undefined {
  if (typeof key === "string") return isDict(value) ? readField(value, key) : undefined;
  if (!Array.isArray(value)) return undefined;
  const index = key < 0 ? value.length + key : key;
  return index >= 0 && index < value.length ? plain(value[index]) : undefined;
}
