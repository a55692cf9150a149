import type { PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";

/** Draws the phases of an action. */
export type ShowPhases = (
  phases: readonly (readonly [name: string, duration: number])[],
) => PageElement;

/** Draws the phases of an action as parts of a bar, with the time of each below it. */
export function makePhases(
  el: MakeElement,
  time: (milliseconds: number) => string,
): ShowPhases {
  const NAMES: Readonly<Record<string, string>> = {
    dns: "DNS",
    connect: "Connect",
    tls: "TLS",
    first_byte: "Waiting",
    download: "Download",
  };
  const nameOf = (name: string) => NAMES[name] ?? name.replaceAll("_", " ");
  return (phases) => {
    const total = phases.reduce((sum, [, took]) => sum + took, 0) || 1;
    const bar = el("div", { class: "phase-bar", "aria-hidden": "true" });
    bar.append(...phases.map(([name, took]) => {
      const part = el("span", { class: `part-of ${name}`, title: `${nameOf(name)} ${time(took)}` });
      part.style.width = `${took / total * 100}%`;
      return part;
    }));
    const legend = el(
      "ul",
      { class: "legend" },
      ...phases.map(([name, took]) =>
        el(
          "li",
          {},
          el("span", { class: `dot ${name}`, "aria-hidden": "true" }),
          `${nameOf(name)} `,
          el("strong", {}, time(took)),
        )
      ),
    );
    return el("div", { class: "phases" }, bar, legend);
  };
}
