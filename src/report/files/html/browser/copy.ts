import type { PageDocument, PageElement } from "./dom.ts";
import type { MakeElement } from "./element.ts";

declare const document: PageDocument;
declare const navigator: {
  readonly clipboard?: { writeText(text: string): Promise<void> };
};
declare function setTimeout(act: () => void, milliseconds: number): number;
declare function clearTimeout(timer: number): void;

/** Makes a button that copies a text, which is made when it is pressed. */
export type MakeCopyButton = (label: string, text: () => string) => PageElement;

/** Copies texts to the clipboard, also where a page from a file may not use it. */
export function makeCopy(el: MakeElement): MakeCopyButton {
  const SHOWN = 2000;

  /** The older way: what is selected is copied. */
  const copySelected = (text: string): boolean => {
    const field = el("textarea", { class: "outside", readonly: "", tabindex: "-1" });
    field.value = text;
    const focused = document.activeElement;
    document.body.append(field);
    field.select();
    let isCopied = false;
    try {
      isCopied = document.execCommand("copy");
    } catch {
      // The browser does not know it any more.
    }
    field.remove();
    focused?.focus();
    return isCopied;
  };

  /** The last way: the reader copies it. */
  const offer = (text: string, button: PageElement) => {
    const field = el("textarea", { class: "to-copy", readonly: "", "aria-label": "Text to copy" });
    field.value = text;
    field.addEventListener("blur", () => field.remove());
    button.after(field);
    field.select();
    field.focus();
  };

  return (label, text) => {
    const status = el("span", { role: "status" }, label);
    const button = el("button", { type: "button", class: "copy" }, status);
    let timer = 0;
    const say = (words: string) => {
      status.textContent = words;
      clearTimeout(timer);
      timer = setTimeout(() => status.textContent = label, SHOWN);
    };
    button.addEventListener("click", () => {
      const copied = text();
      const fallBack = () => {
        if (copySelected(copied)) say("Copied");
        else offer(copied, button);
      };
      if (!navigator.clipboard) return fallBack();
      navigator.clipboard.writeText(copied).then(() => say("Copied"), fallBack);
    });
    return button;
  };
}
