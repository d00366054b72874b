// Runs the script of the dashboard without a browser: the server of a page hangs for a while, with
// its connections open, and a connection breaks later. Prints what the page says of the server at
// each second at which that changes.
//
//   node silent.mjs static/app.js
import { readFileSync } from "node:fs";
import vm from "node:vm";

let now = Date.UTC(2026, 10, 28, 5, 12, 0);
const timers = [];
const timer = (repeat) => (run, ms = 0) => timers.push({ run, at: now + ms, ms, repeat });
const sources = [];
class Source {
  static CLOSED = 2;
  constructor(url) { this.url = String(url); this.readyState = 1; sources.push(this); }
  close() { this.readyState = Source.CLOSED; }
}
class Clock extends Date {
  constructor(...given) { super(...(given.length > 0 ? given : [now])); }
  static now() { return now; }
}
const live = {
  textContent: "", attributes: {},
  setAttribute(name, value) { this.attributes[name] = value; },
};
const nothing = () => undefined;
const document = {
  hidden: false, body: { dataset: { events: "/-/events?cursor=1" } }, activeElement: null,
  getElementById: (id) => (id === "live" ? live : undefined), querySelector: nothing, querySelectorAll: () => [],
  addEventListener: nothing, dispatchEvent: nothing,
};
const context = {
  document, Date: Clock, EventSource: Source, Event, URL, location: { href: "http://server.example/" }, addEventListener: nothing,
  setTimeout: timer(false), setInterval: timer(true), requestAnimationFrame: (run) => run(),
};
vm.runInNewContext(readFileSync(process.argv[2], "utf8"), { ...context, window: context });

const began = now;
const source = () => sources.at(-1);
const speaks = (s) => s < 7 || (s >= 32 && s < 40);
for (let s = 0, said = ""; s <= 44; s++, now += 1000) {
  for (const t of timers.filter((t) => t.at <= now)) {
    t.at = t.repeat ? now + t.ms : Infinity;
    t.run();
  }
  if (s === 32) source().onopen(); // the server continues, and answers the last connection
  if (speaks(s) && s % 2 === 0) source().onmessage({ lastEventId: "7", data: "{}" });
  if (s === 40) { source().readyState = 0; source().onerror(); }
  const text = `${live.className} aria-live=${live.attributes["aria-live"]}: ${live.textContent}`;
  if (text !== said && live.textContent !== "") console.log(`${(now - began) / 1000}s ${said = text}`);
}
console.log(`${sources.length} connections, the last one at ${source().url}, ${sources.filter((s) => s.readyState !== Source.CLOSED).length} open`);
