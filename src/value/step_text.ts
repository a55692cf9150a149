/** A key or an index as it is written behind what it is read of: `.items`, `["log-in"]`, `[2]`. */
export function stepText(step: string | number): string {
  return typeof step === "string" && /^[A-Za-z_]\w*$/.test(step)
    ? `.${step}`
    : `[${JSON.stringify(step)}]`;
}
