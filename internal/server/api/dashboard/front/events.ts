// Follows the events of the server while the page is visible.
import { load, swap } from "./part";

interface Change { type?: string; project?: string; version?: string }

const again = 3000; // milliseconds until a refused connection is tried again
const together = 120; // milliseconds in which changes are collected
const quiet = 5000; // milliseconds without a sign of life after which the page says so; the server sends one every 2 seconds
const anew = 15000; // milliseconds without one after which the page connects again

let cursor = ""; // of the last event
let waiting: Change[] = [];
let heard = Date.now(); // when the server last sent something
let away = false; // the page says that the server does not answer

/** follow keeps the page up to date by the events at an address. */
export function follow(address?: string): void {
  if (!address) return;
  let source: EventSource | undefined;
  let shown = heard; // when the page was last brought to the front
  let tried = heard; // when it last connected
  let lost = false; // the browser has no connection
  const alive = () => { heard = Date.now(); lost = away = false; say("good", "live"); };
  const open = () => {
    tried = Date.now();
    const url = new URL(address!, location.href);
    if (cursor) url.searchParams.set("cursor", cursor);
    source = new EventSource(url);
    source.onopen = alive;
    source.onmessage = (m) => {
      alive();
      cursor = m.lastEventId;
      const change: Change = JSON.parse(m.data);
      if (change.type) collect(change);
    };
    source.onerror = () => {
      lost = true;
      watch();
      if (source?.readyState === EventSource.CLOSED) void restart();
    };
  };
  // A server that hangs keeps the connection open: its silence is counted.
  const watch = () => {
    const now = Date.now();
    if (document.hidden) return;
    if (lost || now - Math.max(heard, shown) >= quiet) missing();
    if (source && now - Math.max(heard, tried) >= anew) { close(); open(); }
  };
  const close = () => { source?.close(); source = undefined; };
  // The server refuses a cursor that is too old, and a session that has ended.
  const restart = async () => {
    close();
    await new Promise((done) => setTimeout(done, again));
    cursor = "";
    address = address!.replace(/[?&]cursor=[^&]*/, (m) => m[0] + "cursor=");
    try { await everything(); } catch { /* the server is away */ }
    if (!document.hidden && !source) open();
  };
  const show = () => { shown = Date.now(); if (!source) open(); };
  document.addEventListener("visibilitychange", () => { if (document.hidden) close(); else show(); });
  addEventListener("pagehide", close);
  if (!document.hidden) open();
  setInterval(watch, 1000);
  every();
}

// missing says since when what is shown is old. A screen reader says it once, and not every second.
function missing(): void {
  const live = document.getElementById("live");
  live?.setAttribute("aria-live", away ? "off" : "polite");
  away = true;
  const seconds = Math.floor((Date.now() - heard) / 1000);
  say("bad", `no answer for ${seconds}s: what is shown is of ${new Date(heard).toTimeString().slice(0, 8)}`);
}

function say(kind: string, text: string): void {
  const live = document.getElementById("live");
  if (!live) return;
  live.hidden = false;
  live.className = `live ${kind}`;
  if (kind === "good") live.setAttribute("aria-live", "polite");
  if (live.textContent !== text) live.textContent = text;
}

function collect(change: Change): void {
  waiting.push(change);
  if (waiting.length === 1) setTimeout(() => void apply(), together);
}

// apply asks for what the collected changes are about, and for nothing else.
async function apply(): Promise<void> {
  const changes = waiting;
  waiting = [];
  const here = document.body.dataset.version;
  const hit = (e: Element) => e.getAttribute("data-swap") !== "version" || changes.some((c) => c.version === here || c.type?.startsWith("promotion."));
  await swap([...document.querySelectorAll("[data-swap]")].filter(hit));
  for (const version of new Set(changes.map((c) => c.version))) if (version) await row(version);
}

// row replaces or adds the row of one version.
async function row(version: string): Promise<void> {
  const rows = document.querySelector<HTMLElement>("[data-rows]");
  if (!rows) return;
  const old = [...rows.children].find((r) => (r as HTMLElement).dataset.row === version);
  if (!old && rows.dataset.new === undefined) return;
  const fresh = (await load(rows.dataset.rows + encodeURIComponent(version)))?.querySelector("tr");
  if (!fresh) return;
  fresh.classList.add("fresh");
  const [was, is] = [old, fresh].map((r) => r?.querySelector<HTMLInputElement>("input[type=checkbox]")); // a mark stays
  if (was && is) is.checked = was.checked;
  place(rows, fresh, old);
}

// place puts a row where the server lists it: production first, then the newest.
function place(rows: HTMLElement, fresh: HTMLElement, old?: Element): void {
  const first = rows.querySelector("[data-production]");
  if (fresh.dataset.production !== undefined && rows.dataset.new !== undefined) { old?.remove(); rows.prepend(fresh); return; }
  if (old) old.replaceWith(fresh); else if (first) first.after(fresh); else rows.prepend(fresh);
}

function everything(): Promise<void> { return swap([...document.querySelectorAll("[data-swap]")]); }

// every reads figures again, which no event announces, while the page is visible.
function every(): void {
  const seconds = Number(document.querySelector<HTMLElement>("[data-every]")?.dataset.every ?? 0);
  if (!seconds) return;
  setInterval(() => { if (!document.hidden && !away) void swap([...document.querySelectorAll("[data-every]")]).catch(() => undefined); }, seconds * 1000);
}
