// A rate limit in the worker's own isolate: the worker host counts.
import { span } from "svc-internal:trace";

const OPTIONS = ["key", "limit", "period"];
const PERIODS = [10, 60]; // seconds

// check refuses options that Cloudflare's own development server refuses, with its words. A misspelled
// key would limit all callers together.
function check(ok, message) {
  if (!ok) throw new Error(message);
}

class RateLimit {
  #service;
  #limit;
  #period;
  #resource;

  constructor(service, limits, resource) {
    this.#service = service;
    this.#resource = resource;
    [this.#limit, this.#period] = limits.split("/").map(Number);
  }

  async limit(options) {
    check(typeof options === "object" && options !== null, "invalid rate limit options");
    const unknown = Object.keys(options).filter((name) => !OPTIONS.includes(name));
    check(unknown.length === 0, `bad rate limit options: [${unknown.join(",")}]`);
    const { key = "", limit = this.#limit, period = this.#period } = options;
    check(typeof key === "string", `invalid key: ${key}`);
    check(typeof limit === "number", `limit must be a number: ${limit}`);
    check(typeof period === "number", `period must be a number: ${period}`);
    check(PERIODS.includes(period), `unsupported period: ${period}`);
    const limits = `${Math.trunc(limit) || 0}/${period}`;
    const response = await span(this.#resource, "limit", () => this.#service.fetch(`http://limit/${limits}`, { method: "POST", body: key }));
    return { success: response.status === 200 };
  }
}

export default function makeBinding({ service, limits, resource }) {
  return new RateLimit(service, limits, resource);
}
