/** A description for editors: a summary as a sentence, and what stands for what is left out. */
export function describe(summary: string, standard?: string): string {
  const sentence = summary.charAt(0).toUpperCase() + summary.slice(1).replace(/\.$/, "") + ".";
  return standard === undefined ? sentence : `${sentence} Default: ${standard}.`;
}
