/** The description of a page for search engines and previews: its first sentences, or its headings. */
export function describePage(markdown) {
  const prose = markdown.replace(/^---\n.*?\n---\n/s, "").replace(/<!--.*?-->/gs, "")
    .replace(/^```.*?^```/gms, "")
    // A remark about releases says nothing about the page.
    .replace(/There\s+is\s+no\s+release\s+yet: replace.*?releases\./gs, "");
  const paragraph = prose.split(/\n\s*\n/).map((block) => block.trim())
    .find((block) => /^[\p{L}"“`[(]/u.test(block) && !/^`[^`]+`:$/.test(block));
  if (paragraph !== undefined) return cutText(plain(paragraph).replace(/:$/, "."), 200);
  const [title, ...headings] = [...prose.matchAll(/^##? (.+)$/gm)].map(([, text]) => plain(text));
  return title && cutText([`${title} · documents of runner`, ...headings].join(" · "), 200);
}

/** The text without marks and links. */
function plain(markdown) {
  return markdown.replace(/!?\[([^\]]*)\](\([^)]*\)|\[[^\]]*\])/g, "$1")
    .replace(/\*\*(\w[^*]*)\*\*/g, "$1").replace(/(?<!\w)_([^_]+)_(?!\w)/g, "$1")
    .replaceAll("`", "").replace(/\s+/g, " ").trim();
}

/** As many whole sentences as fit, or else the words that do. */
function cutText(text, most) {
  if (text.length <= most) return text;
  const sentences = /^.*[.!?](?=\s)/.exec(text.slice(0, most + 1))?.[0];
  if (sentences !== undefined && sentences.length > most / 3) return sentences;
  return `${text.slice(0, text.lastIndexOf(" ", most - 1))}…`;
}
