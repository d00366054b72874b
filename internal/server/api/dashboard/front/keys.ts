// Keys: / goes to the filter, j and k or the arrows to the next row, Escape leaves a field.

/** keys listens to the keyboard. */
export function keys(): void {
  document.addEventListener("keydown", (e) => {
    const at = document.activeElement as HTMLElement | null;
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (at?.matches("input, textarea, select")) {
      if (e.key === "Escape") at.blur();
      return;
    }
    const rows = [...document.querySelectorAll<HTMLElement>("tr:not([hidden]) a.row")];
    const index = rows.indexOf(at as HTMLElement);
    const go = (to: HTMLElement | undefined) => { if (to) { e.preventDefault(); to.focus(); } };
    switch (e.key) {
      case "/": go(document.querySelector<HTMLElement>(".filter") ?? undefined); break;
      case "j": go(rows[Math.min(index + 1, rows.length - 1)]); break;
      case "k": go(rows[Math.max(index - 1, 0)]); break;
      case "Escape": for (const d of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) d.open = false; break;
    }
  });
}
