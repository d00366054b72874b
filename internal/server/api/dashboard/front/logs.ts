// Follows a log: the server renders each entry.
import { parse } from "./part";

const most = 3000; // entries that stay on the page

/** logs appends the entries that follow to the log of the page. */
export function logs(): void {
  const list = document.querySelector<HTMLElement>("[data-stream]");
  const box = list?.parentElement;
  if (!list || !box) return;
  let source: EventSource | undefined;
  let last = "";
  let held: string[] = [];
  const pause = document.querySelector<HTMLInputElement>("#pause");
  const bottom = () => { box.scrollTop = box.scrollHeight; };
  const show = () => {
    if (pause?.checked || held.length === 0) return;
    const follows = box.scrollHeight - box.scrollTop - box.clientHeight < 40;
    for (const html of held) list.append(parse(html));
    held = [];
    document.getElementById("log-empty")?.setAttribute("hidden", "");
    while (list.children.length > most) list.firstElementChild?.remove();
    if (follows) bottom();
  };
  const open = () => {
    const url = new URL(list.dataset.stream!, location.href);
    if (last) url.searchParams.set("cursor", last);
    source = new EventSource(url);
    source.onmessage = (m) => {
      last = m.lastEventId;
      if (held.push(JSON.parse(m.data)) === 1) setTimeout(show, 50);
      if (held.length > most) held.shift();
    };
    source.onerror = () => { if (source?.readyState === EventSource.CLOSED) { source = undefined; setTimeout(() => { if (!document.hidden && !source) open(); }, 3000); } };
  };
  const close = () => { source?.close(); source = undefined; };
  pause?.addEventListener("change", show);
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else if (!source) open(); });
  addEventListener("pagehide", close);
  bottom();
  open();
}
