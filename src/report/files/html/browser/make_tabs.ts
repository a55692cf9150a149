import type { PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";

/** One of several views, of which one is shown. */
export interface PageTab {
  readonly label: string;
  readonly state: "passed" | "failed";
  readonly content: () => readonly PageElement[];
}

/** Shows one of several views at a time, the last one first. */
export type ShowTabs = (name: string, tabs: readonly PageTab[]) => PageElement;

/** Tabs as the keyboard and assistive technology know them. */
export function makeTabs(el: MakeElement): ShowTabs {
  const ICONS = { passed: "✓", failed: "✗" };
  return (name, tabs) => {
    const panel = el("div", { role: "tabpanel", id: "tab-panel", tabindex: "0" });
    const buttons = tabs.map(({ label, state }, index) =>
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${index}`,
          "aria-controls": "tab-panel",
        },
        el("span", { role: "img", "aria-label": state, class: state }, ICONS[state]),
        ` ${label}`,
      )
    );
    const choose = (chosen: number) => {
      buttons.forEach((button, index) => {
        button.setAttribute("aria-selected", String(index === chosen));
        button.setAttribute("tabindex", index === chosen ? "0" : "-1");
      });
      panel.setAttribute("aria-labelledby", `tab-${chosen}`);
      panel.replaceChildren(...tabs[chosen]!.content());
    };
    buttons.forEach((button, index) => {
      button.addEventListener("click", () => choose(index));
      button.addEventListener("keydown", (event) => {
        if (event.altKey || event.ctrlKey || event.metaKey) return;
        const last = tabs.length - 1;
        const places: Readonly<Record<string, number>> = {
          ArrowLeft: index === 0 ? last : index - 1,
          ArrowRight: index === last ? 0 : index + 1,
          Home: 0,
          End: last,
        };
        const next = places[event.key];
        if (next === undefined) return;
        event.preventDefault();
        choose(next);
        buttons[next]!.focus();
      });
    });
    choose(tabs.length - 1);
    return el(
      "div",
      { class: "tabs" },
      el("div", { role: "tablist", "aria-label": name }, ...buttons),
      panel,
    );
  };
}
