// The binding to the Durable Objects of another worker, as a worker sees it. ids is a
// namespace without objects whose ids are those of the other one.
import { makeCalls } from "svc-internal:service";

function stub(relay, resource, id) {
  const { fetch, property } = makeCalls(relay, resource, { object: id.toString() });
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

export default function makeBinding({ relay, ids, resource }) {
  const get = (id) => {
    ids.get(id); // throws for what is no id of the namespace
    return stub(relay, resource, id);
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
