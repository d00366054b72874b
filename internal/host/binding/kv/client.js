// A namespace of a worker is workerd's own object. Its calls on one key run in the order
// in which the worker made them.
import { keepOrder } from "svc-internal:order";

export default function makeBinding({ namespace, resource }) {
  return keepOrder(namespace, resource, { reads: ["get", "getWithMetadata"], writes: ["put", "delete"], lists: ["list"] });
}
