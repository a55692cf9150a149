import type { Parameter } from "./action.ts";

/** A parameter, or a field of one, by its full name: `tls.ca`, `transaction[].query`. */
export interface NamedParameter {
  readonly name: string;
  readonly parameter: Parameter;
}

/** Every parameter, each followed by its fields. */
export function listParameters(
  parameters: readonly Parameter[],
  prefix = "",
): readonly NamedParameter[] {
  return parameters.flatMap((parameter) => {
    const name = prefix + parameter.name;
    return [
      { name, parameter },
      ...listParameters(parameter.fields ?? [], `${name}.`),
      ...listParameters(parameter.items ?? [], `${name}[].`),
    ];
  });
}

/** A summary as the beginning of a sentence. */
export function sentence(summary: string): string {
  return summary[0]!.toUpperCase() + summary.slice(1);
}
