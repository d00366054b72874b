// A queue of a worker is workerd's own object. Its calls are spans of traces.
import { replace } from "svc-internal:order";
import { span } from "svc-internal:trace";

export default function makeBinding({ queue, resource }) {
  for (const name of ["send", "sendBatch"]) {
    replace(queue, name, (method, self, args) => span(resource, name, () => Reflect.apply(method, self, args)));
  }
  return queue;
}
