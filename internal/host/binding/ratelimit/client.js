// A rate limit in the worker's own isolate: the worker host counts.
class RateLimit {
  #service;
  #limits;

  constructor(service, limits) {
    this.#service = service;
    this.#limits = limits;
  }

  async limit(options) {
    const key = options?.key ?? "";
    if (typeof key !== "string") throw new TypeError("limit: key must be a string");
    const response = await this.#service.fetch(`http://limit/${this.#limits}`, { method: "POST", body: key });
    return { success: response.status === 200 };
  }
}

export default function makeBinding({ service, limits }) {
  return new RateLimit(service, limits);
}
