/** Prepares tables for narrow screens: they can scroll, and each cell knows the name of its column. */
export function layOutTables(md) {
  md.core.ruler.push("name_columns", ({ tokens }) => {
    let [table, names, column] = [undefined, [], 0];
    for (const [index, token] of tokens.entries()) {
      if (token.type === "table_open") [table, names] = [token, []];
      else if (token.type === "th_open") {
        names.push(textOf(tokens[index + 1]));
        // More do not fit beside each other on a phone.
        if (names.length === 3) table.meta = { class: "table many" };
      } else if (token.type === "tr_open") column = 0;
      else if (token.type === "td_open") token.attrSet("data-label", names[column++] ?? "");
    }
  });
  md.renderer.rules.table_open = (tokens, index) =>
    `<div class="${tokens[index].meta?.class ?? "table"}" tabindex="0"><table>`;
  md.renderer.rules.table_close = () => "</table></div>";
  md.renderer.rules.td_open = (tokens, index, options, env, self) => {
    const isEmpty = tokens[index + 1].content === "";
    return self.renderToken(tokens, index, options) + (isEmpty ? "" : "<span>");
  };
  md.renderer.rules.td_close = (tokens, index) =>
    `${tokens[index - 1].content === "" ? "" : "</span>"}</td>\n`;
}

/** What a heading says, without its marks. */
function textOf({ children }) {
  return children.map(({ content }) => content).join("");
}
