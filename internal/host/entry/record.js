// What the log has about an invocation besides its lines: which event of the host it is, or
// how a call that the host does not know ended.
import { tell } from "svc-internal:console";
import { current } from "svc-internal:context";

const { now } = Date;

// The arguments of the handlers that the host calls, as it knows their events.
const EVENTS = {
  scheduled: ({ cron, scheduledTime }) => ({ cron, time: Number(scheduledTime) }),
  queue: ({ queue, messages }) => ({ queue, message: messages[0].id }),
  run: ({ workflowName, instanceId }) => ({ workflow: workflowName, instance: instanceId }),
};

// naming gives the function that tells which event of the host an invocation of the handler
// name is; undefined if it is none. The function does not keep the argument, which may be large.
export function naming(name, argument) {
  if (EVENTS[name] === undefined) return undefined;
  try {
    const event = EVENTS[name](argument);
    return (id) => tell(id, "\x1c", JSON.stringify(event));
  } catch {} // an argument of the worker's own kind
}

// watchNoRetry logs the calls of a scheduled controller's noRetry when they happen: the
// outcome of a run is not known when a process is killed.
export function watchNoRetry(controller) {
  try {
    const noRetry = controller.noRetry.bind(controller);
    const invocation = current();
    const value = () => {
      tell(invocation.id, "\x1a", "");
      return noRetry();
    };
    Object.defineProperty(controller, "noRetry", { configurable: true, writable: true, value });
  } catch {} // an argument of the worker's own kind
}

// The methods of an object that are called for an event.
const OBJECT_EVENTS = ["alarm", "webSocketMessage", "webSocketClose", "webSocketError"];

// Call is a call of a method of a class. An event has a record when it ended, another call
// has one if it printed something: numbered was called then.
export class Call {
  #name;
  #self;
  #began = now();
  #recorded;

  constructor(name, self) {
    this.#name = name;
    this.#self = self;
    this.#recorded = OBJECT_EVENTS.includes(name);
  }

  numbered = () => (this.#recorded = true);

  // ended logs the end of the invocation that runs.
  ended(outcome) {
    if (!this.#recorded) return;
    const rpc = this.#name !== "fetch" && !OBJECT_EVENTS.includes(this.#name);
    const kind = rpc ? "rpc" : this.#name;
    const detail = this.#detail(rpc ? `.${this.#name}` : "");
    tell(current().id, "\x1b", JSON.stringify({ kind, detail, outcome, ms: now() - this.#began }));
  }

  // detail is the class, the method and the object: Room.add "lobby".
  #detail(method) {
    try {
      const { constructor, ctx } = this.#self;
      const id = ctx?.id;
      const object = id?.name === undefined ? id && String(id).slice(0, 8) : JSON.stringify(id.name);
      return constructor.name + method + (object ? ` ${object}` : "");
    } catch {
      return ""; // an object of the worker's own kind
    }
  }
}
