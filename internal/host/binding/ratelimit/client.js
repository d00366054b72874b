// A rate limit in the worker's own isolate: the worker host counts.
import { span } from "svc-internal:trace";

class RateLimit {
  #service;
  #limits;
  #resource;

  constructor(service, limits, resource) {
    this.#service = service;
    this.#resource = resource;
    this.#limits = limits;
  }

  async limit(options) {
    const key = options?.key ?? "";
    if (typeof key !== "string") throw new TypeError("limit: key must be a string");
    const response = await span(this.#resource, "limit", () => this.#service.fetch(`http://limit/${this.#limits}`, { method: "POST", body: key }));
    return { success: response.status === 200 };
  }
}

export default function makeBinding({ service, limits, resource }) {
  return new RateLimit(service, limits, resource);
}
