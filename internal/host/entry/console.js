// Loaded before the worker's modules: a line of the console gets the id of the invocation
// that prints it. workerd writes it to stdout as
//
//   U+001E id U+001E text   a line whose first argument is a string
//   U+001E id U+001D text   another line; workerd puts a space before text
//   U+001E id U+001F text   an exception that the worker did not catch; workerd puts a space before
//                           an object that is no Error, which it shows as console.log does
//   U+001E id U+001C json   the event of the host that the invocation is, before its first line:
//                           {cron, time}, {queue, message} or {workflow, instance}
//   U+001E id U+001B json   the end of an invocation that the host did not start:
//                           {kind, detail, outcome, ms}
//   U+001E id U+001A        a scheduled run called noRetry()
//   U+001E id U+0019 json   spans of a traced invocation: [{trace, id, parent, name, resource, start, end, failed}]
import { current } from "svc-internal:context";

const { apply } = Reflect;
const print = console.error;

// tell writes a line about an invocation that is not one of the worker's own.
export const tell = (id, mark, text) => print(`\x1e${id}${mark}${text}`);

for (const level of ["debug", "log", "info", "warn", "error"]) {
  console[level] = new Proxy(console[level], {
    apply(native, self, args) {
      const invocation = current();
      if (invocation !== undefined) {
        const mark = `\x1e${invocation.id}`;
        if (typeof args[0] === "string") args[0] = `${mark}\x1e${args[0]}`;
        else args.unshift(`${mark}\x1d`);
      }
      return apply(native, self, args);
    },
  });
}

const MAX = 16_384; // characters of an exception

// textOf is an exception as a line of the log. It runs getters of the worker, which may throw.
function textOf(e) {
  if (!(e instanceof Error)) return String(e);
  const stack = String(e.stack);
  const frames = stack.indexOf("\n    at ");
  return String(e) + (frames < 0 ? "" : stack.slice(frames));
}

// isObject reports whether e has a content that String does not show.
const isObject = (e) => !(e instanceof Error) && ((typeof e === "object" && e !== null) || typeof e === "function");

// report logs an exception that ended the invocation that runs.
export function report(e) {
  const invocation = current();
  if (invocation === undefined) return;
  try {
    if (isObject(e)) print(`\x1e${invocation.id}\x1f`, e);
    else tell(invocation.id, "\x1f", textOf(e).slice(0, MAX));
  } catch {
    tell(invocation.id, "\x1f", "an exception without a text");
  }
}
