// Questions open over the page instead of on a page of their own.
import { load } from "./part";

/** dialogs opens the question behind a link. */
export function dialogs(): void {
  document.addEventListener("click", (e) => {
    const link = (e.target as Element).closest?.("a[data-dialog]") as HTMLAnchorElement | null;
    if (link && !e.ctrlKey && !e.metaKey && !e.shiftKey && e.button === 0) {
      e.preventDefault();
      void open(link);
    }
  });
  must(document);
}

async function open(link: HTMLAnchorElement): Promise<void> {
  const ask = (await load(link.href).catch(() => undefined))?.getElementById("ask");
  if (!ask) { location.href = link.href; return; }
  const dialog = document.createElement("dialog");
  dialog.setAttribute("aria-label", ask.querySelector("h1")?.textContent ?? "");
  dialog.append(ask);
  document.body.append(dialog);
  dialog.addEventListener("close", () => { dialog.remove(); link.focus(); });
  dialog.addEventListener("click", (e) => {
    if (e.target === dialog || (e.target as Element).closest("[data-close]")) { e.preventDefault(); dialog.close(); }
  });
  dialog.addEventListener("submit", () => { for (const b of dialog.querySelectorAll("button")) b.setAttribute("aria-busy", "true"); });
  must(dialog);
  dialog.showModal();
  dialog.querySelector<HTMLElement>("[data-must], [required], button:not(:disabled)")?.focus();
}

// must enables the button of a form when the right text is typed.
function must(root: ParentNode): void {
  for (const input of root.querySelectorAll<HTMLInputElement>("[data-must]")) {
    const button = input.form?.querySelector("button");
    if (!button || button.disabled) continue;
    const check = () => { button.disabled = input.value !== input.dataset.must; };
    input.addEventListener("input", check);
    check();
  }
}
