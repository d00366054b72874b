// The binding to the Durable Objects of another worker, as a worker sees it. ids is a
// namespace without objects whose ids are those of the other one; without it, absent says why
// no id can be made.
import { fetchOf, method } from "svc-internal:durable_object";
import { beginFar, isOpen } from "svc-internal:object-turns";
import { makeCalls } from "svc-internal:service";

let bindings = 0;

// makeOpening makes calls that wait for their turn when they open the object key.
function makeOpening({ fetch, property }, key) {
  return { fetch: fetchOf(key, fetch, beginFar), property: (path) => (isOpen(key) ? property(path) : method(key, property(path), beginFar)) };
}

function stub(relay, resource, id, binding) {
  const calls = makeCalls(relay, resource, { object: id.toString() });
  const { fetch, property } = makeOpening(calls, `${binding} ${id}`);
  return new Proxy(relay, {
    get(_, key) {
      if (key === "id") return id;
      if (key === "name") return id.name;
      if (key === "fetch") return fetch;
      if (typeof key !== "string" || key === "then" || key === "constructor") return Reflect.get(relay, key);
      return property([key]);
    },
  });
}

// noIds stands for the ids of a worker whose project did not exist when this one started.
const noIds = (why) =>
  new Proxy({}, {
    get: () => () => {
      throw new Error(why);
    },
  });

export default function makeBinding({ relay, ids, resource, absent }) {
  ids ??= noIds(absent);
  const binding = ++bindings;
  const get = (id) => {
    ids.get(id); // throws for what is no id of the namespace
    return stub(relay, resource, id, binding);
  };
  return {
    newUniqueId: (options) => ids.newUniqueId(options),
    idFromName: (name) => ids.idFromName(name),
    idFromString: (text) => ids.idFromString(text),
    get,
    getByName: (name) => get(ids.idFromName(name)),
    jurisdiction() {
      return this;
    },
  };
}
