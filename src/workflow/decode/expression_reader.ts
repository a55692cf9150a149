import type { Action } from "../../action/action.ts";
import type { DataTemplate, Expression, Template } from "../../expr/expression.ts";
import type { FilesOfCalls } from "../../expr/functions/function.ts";
import type { Path } from "../../base/source.ts";
import type { NameRule } from "../model.ts";

/** An expression or a template with its place. */
export interface ExpressionUse {
  readonly tree: Expression | Template;
  readonly path: Path;
  /** The names that it sees. */
  readonly names: NameRule;
}

/** Parses the expressions and templates of a workflow; errors in them become problems. */
export interface ExpressionReader {
  /** Everything that was parsed; what `with` has from the defaults of a job is at the step too. */
  readonly uses: readonly ExpressionUse[];
  expression(text: string, path: Path, names: NameRule): Expression | undefined;
  template(text: string, path: Path, names: NameRule): Template | undefined;
  /**
   * Data whose texts may be templates; a part that is wrong is left out of no check. `action` is
   * the one whose parameters they are.
   */
  data(value: unknown, path: Path, names: NameRule, action?: Action): DataTemplate;
  /**
   * Checks everything that was parsed: functions, patterns, and whether the names exist. `vars`
   * are the variables of the workflow, which are easily written without `vars.` before them;
   * `filesAt` reads the files that the functions of an expression name.
   */
  check(vars: readonly string[], filesAt: (path: Path) => FilesOfCalls): Promise<void>;
}
