// Tables that sort by any column.

// Columns: { title, number, key(row) for sorting, cell(row) }.
function table(columns, rows, options = {}) {
  const body = element("tbody");
  const made = rows.map((row) => {
    const cells = columns.map((column) => element("td", column.number ? { class: "number" } : column.wide ? { class: "bars" } : {}, column.cell(row)));
    const line = element("tr", {}, ...cells);
    if (options.pick) {
      line.className = "pick";
      line.addEventListener("click", () => options.pick(row));
    }
    if (options.row) options.row(row, line);
    return { row, line };
  });
  body.append(...made.map((one) => one.line));
  const heads = columns.map((column) => {
    const button = element("button", { type: "button" }, column.title);
    const head = element("th", { scope: "col", ...(column.number ? { class: "number" } : {}) }, column.key ? button : column.title);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === (column.number ? "descending" : "ascending");
      const direction = down === Boolean(column.number) ? "ascending" : "descending";
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", direction);
      const sign = direction === "ascending" ? 1 : -1;
      const order = (a, b) => (typeof a === "string" ? (a < b ? -1 : a > b ? 1 : 0) : a - b);
      const keyed = made.map((one, index) => ({ one, index, key: column.key(one.row) }));
      keyed.sort((a, b) => sign * order(a.key, b.key) || a.index - b.index);
      body.append(...keyed.map(({ one }) => one.line));
    });
    return head;
  });
  const all = element("table", {}, element("thead", {}, element("tr", {}, ...heads)), body);
  return element("div", { class: "card scroll" + (options.tall ? " tall" : "") }, all);
}
