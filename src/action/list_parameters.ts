import type { Parameter, ResponseField } from "./action.ts";

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

/** The types of fields in the words of parameters. */
const TYPES: { readonly [T in NonNullable<ResponseField["type"]>]: string } = {
  ...{ nil: "nil", bool: "boolean", int: "integer", float: "number" },
  ...{ string: "string", array: "list", map: "map" },
};

/** The type of a field of `res`, in the words of parameters. */
export function typeOfField({ type }: ResponseField): string {
  return type === undefined ? "any" : TYPES[type];
}
