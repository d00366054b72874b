// A dataset in the worker's own isolate. The worker host stores the data points that one
// turn of the event loop writes with one request, which the event waits for.
import { span } from "svc-internal:trace";
import workers from "cloudflare-internal:workers";

const MAX = 20; // blobs, doubles
const MAX_BLOBS = 16 * 1024; // bytes together
const MAX_INDEX = 96; // bytes

const bytes = new TextEncoder();
const texts = new TextDecoder();
const check = (ok, message) => {
  if (!ok) throw new TypeError(`writeDataPoint(): ${message}`);
};

// list is the values of a field as an array.
function list(point, name, max) {
  const values = point?.[name] ?? [];
  check(Array.isArray(values), `${name} must be an array.`);
  check(values.length <= max, `Maximum of ${max} ${name} supported.`);
  return values;
}

// text is a blob: a string, or bytes of one; null is empty.
function text(value, name) {
  if (value === null || value === undefined) return "";
  if (value instanceof ArrayBuffer || ArrayBuffer.isView(value)) return texts.decode(value);
  check(typeof value === "string", `${name} must be strings, array buffers or null.`);
  return value;
}

function row(point) {
  const indexes = list(point, "indexes", 1).map((v) => text(v, "indexes"));
  check(indexes.every((v) => bytes.encode(v).length <= MAX_INDEX), `Size of indexes exceeds ${MAX_INDEX} bytes.`);
  const blobs = list(point, "blobs", MAX).map((v) => text(v, "blobs"));
  const size = blobs.reduce((sum, v) => sum + bytes.encode(v).length, 0);
  check(size <= MAX_BLOBS, `Cumulative size of blobs exceeds ${MAX_BLOBS} bytes.`);
  const doubles = list(point, "doubles", MAX).map((v) => Number(v ?? 0));
  return { index: indexes[0] ?? "", blobs, doubles: doubles.map((v) => (Number.isFinite(v) ? v : 0)) };
}

class AnalyticsEngine {
  #service;
  #resource;
  #rows = undefined; // of this turn

  constructor(service, resource) {
    this.#service = service;
    this.#resource = resource;
  }

  writeDataPoint(point) {
    const r = row(point);
    if (this.#rows) {
      this.#rows.push(r);
      return;
    }
    this.#rows = [r];
    workers.waitUntil(this.#flush());
  }

  async #flush() {
    await undefined; // the turn ends
    const body = JSON.stringify(this.#rows);
    this.#rows = undefined;
    const response = await span(this.#resource, "write", () => this.#service.fetch("http://analytics/write", { method: "POST", body }));
    if (!response.ok) console.warn(`writeDataPoint(): ${await response.text()}`);
  }
}

export default function makeBinding({ service, resource }) {
  return new AnalyticsEngine(service, resource);
}
