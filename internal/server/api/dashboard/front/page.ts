// Small helps on a page.

/** ages keeps the ages of moments right. */
export function ages(): void {
  const show = () => {
    for (const t of document.querySelectorAll("time")) {
      const text = age((Date.now() - Date.parse(t.dateTime)) / 1000);
      if (t.textContent !== text) t.textContent = text;
    }
  };
  setInterval(show, 5000);
}

function age(s: number): string {
  if (s < 60) return `${Math.max(0, Math.floor(s))}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  return s < 172800 ? `${Math.floor(s / 3600)}h` : `${Math.floor(s / 86400)}d`;
}

/** filters hides the rows that do not hold the text of a filter. */
export function filters(): void {
  for (const input of document.querySelectorAll<HTMLInputElement>("[data-filter]")) {
    const apply = () => {
      const text = input.value.trim().toLowerCase();
      for (const row of document.querySelectorAll<HTMLElement>(`${input.dataset.filter} tbody tr`)) {
        row.hidden = !row.innerText.toLowerCase().includes(text) && !(row.textContent ?? "").toLowerCase().includes(text);
      }
    };
    input.addEventListener("input", apply);
    document.addEventListener("fresh", apply);
  }
}
