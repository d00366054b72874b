// The tail consumer of a worker stands for a worker of another process: it passes on the
// records of events that have ended. What it prints is in the log of the producer.
import Relay from "./svc-relay.js";

const MARK = /^\x1e[^\x1c-\x1f]*([\x1c-\x1f]) ?/; // of the platform, before a line of the console
let silentUntil = 0;

// lines are the lines of an event as the worker printed them.
function lines(logs) {
  const out = [];
  for (const line of logs ?? []) {
    const first = Array.isArray(line.message) ? line.message[0] : line.message;
    const mark = typeof first === "string" ? MARK.exec(first) : null;
    if (mark === null) out.push(line);
    else if (mark[1] === "\x1e") out.push({ ...line, message: [first.slice(mark[0].length), ...line.message.slice(1)] });
    else if (mark[1] === "\x1d") out.push({ ...line, message: line.message.slice(1) });
  } // the others are exceptions, which the event has, and notes of the platform
  return out;
}

export default class Tail extends Relay {
  async tail(events) {
    const { scriptName, scriptVersion } = this.ctx.props;
    const records = JSON.parse(JSON.stringify(events)) // an event is no structured value
      .filter(({ event }) => event?.rpcMethod !== "tail") // or two workers would tail each other for ever
      .map((e) => ({ ...e, scriptName, scriptVersion, logs: lines(e.logs) }));
    if (records.length === 0) return;
    try {
      await this.call({ depth: 1 }, ["tail"], [records]);
    } catch (e) {
      if (Date.now() < silentUntil) return;
      silentUntil = Date.now() + 60_000;
      console.error(`records for the tail consumer ${this.ctx.props.target} were lost: ${e}`);
    }
  }
}
