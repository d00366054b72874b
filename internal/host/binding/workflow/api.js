// The binding of a worker to a workflow, in the worker's own isolate. Its shape is that of workerd's binding; limits and
// the words of errors are those of workerd's simulator.
import { span } from "svc-internal:trace";
import { call as ask, duration, fault } from "svc-internal:workflow-store";
import { decode, encode } from "svc-internal:workflow-value";

const MAX_BATCH = 100;
const MAX_VALUE = 1 << 20; // bytes of params or of a payload
const ID = /^[a-zA-Z0-9_][a-zA-Z0-9-_]*$/;
const EVENT = /^[a-zA-Z0-9_][a-zA-Z0-9-_]*$/;

// call asks the store of a workflow.
const call = ({ store, resource }, method, argument) => span(resource, method, () => ask(store, method, argument));
const failure = (code, message) => fault("WorkflowError", `(${code}) ${message}`);
const isId = (id) => typeof id === "string" && id.length <= 100 && ID.test(id);
const isReserved = (id) => ["batch", "terminate", "terminateAll"].includes(id);

// value is the JSON of what a worker gives, as the store takes it.
function value(what, v) {
  const { json, bytes } = encode(v);
  if (bytes > MAX_VALUE) throw failure("body", `${what} is too large: the maximum is 1 MiB`);
  return JSON.parse(json);
}

// retention is how long a finished instance is kept, in milliseconds; undefined for the default.
function retention(r) {
  const read = (d) => {
    if (d === undefined) return undefined;
    const ms = duration(d);
    if (!(ms > 0)) throw failure("body", "Duration must be a number or a string in format '{{number}} {{unit}}' where unit is second(s), minute(s), etc.");
    return Math.round(ms);
  };
  return { success: read(r?.successRetention), error: read(r?.errorRetention) };
}

function entry(options) {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw failure("body", `Invalid input: expected object, received ${Array.isArray(options) ? "array" : options === null ? "null" : typeof options}`);
  }
  return { id: options.id, params: value("The value of params", options.params ?? {}), ...retention(options.retention) };
}

class InstanceImpl {
  #store;

  constructor(store, id) {
    this.#store = store;
    this.id = id;
  }

  async status() {
    const { status, output, error } = await call(this.#store, "status", { id: this.id });
    return { status, output: output === undefined ? null : decode(output), error };
  }

  async sendEvent({ type, payload }) {
    if (typeof type !== "string" || type.length > 100 || !EVENT.test(type)) {
      throw failure("instance.invalid_event_type", "The type of an event has 1 to 100 letters, digits, hyphens and underscores");
    }
    await call(this.#store, "event", { id: this.id, type, payload: value("The payload of an event", payload) });
  }

  async pause() {
    await call(this.#store, "pause", { id: this.id });
  }

  async resume() {
    await call(this.#store, "resume", { id: this.id });
  }

  async terminate(options) {
    if (options?.rollback) throw failure("instance.cannot_terminate", "rollback is not supported");
    await call(this.#store, "terminate", { id: this.id });
  }

  async restart(options) {
    const from = options?.from;
    await call(this.#store, "restart", { id: this.id, from: from && { type: from.type ?? "do", name: String(from.name), count: from.count ?? 1 } });
  }

  async delete() {
    await call(this.#store, "delete", { id: this.id });
  }

  async subscribe() {
    throw new Error("subscribe is not supported: ask for status");
  }
}

class WorkflowImpl {
  #store;

  constructor(store) {
    this.#store = store;
  }

  #instance(id) {
    return new InstanceImpl(this.#store, id);
  }

  async get(id) {
    await call(this.#store, "exists", { id });
    return this.#instance(id);
  }

  async create(options = {}) {
    const instance = entry(options);
    const id = "id" in options ? options.id : crypto.randomUUID();
    if (!isId(id)) throw fault("WorkflowError", "Workflow instance has invalid id");
    const { errors } = await call(this.#store, "create", { instances: [{ ...instance, id }] });
    if (errors.length > 0) throw failure("instance.already_exists", `Workflow instance with id "${id}" already exists`);
    return this.#instance(id);
  }

  // createBatch takes a list, of which instances that exist are left out, or an object, for which they are reported.
  async createBatch(options) {
    if (Array.isArray(options)) {
      if (options.length === 0) throw new Error("WorkflowError: batchCreate should have at least 1 instance");
      if (options.length > MAX_BATCH) throw new Error(`WorkflowError: batchCreate only supports ${MAX_BATCH} instances at a time`);
      return (await this.#createAll(options, false)).created;
    }
    let instances = options?.instances;
    if (options && "count" in options) {
      const { count, params, retention } = options;
      if (!Number.isInteger(count) || count < 1) throw failure("body", "count must be a positive integer");
      if (count > MAX_BATCH) throw failure("body", `batchCreate only supports ${MAX_BATCH} instances at a time`);
      instances = Array.from({ length: count }, () => ({ params, retention }));
    }
    if (!Array.isArray(instances)) throw failure("body", "Provided argument is invalid");
    if (instances.length === 0 || instances.length > MAX_BATCH) throw failure("body", "Batch size exceeds maximum allowed");
    return this.#createAll(instances, true);
  }

  async #createAll(list, reports) {
    const instances = list.map(entry);
    for (const i of instances) {
      i.id ??= crypto.randomUUID();
      if (isId(i.id) && !(reports && isReserved(i.id))) continue;
      throw reports ? failure("instance.invalid_id", "Instance ID is invalid") : fault("WorkflowError", "Workflow instance has invalid id");
    }
    const { created, errors } = await call(this.#store, "create", { instances });
    return {
      created: created.map((id) => this.#instance(id)),
      errors: errors.map(({ index, id, twice }) => ({
        index, id, code: twice ? 10415 : 10405,
        message: `workflows.api.error.instance.${twice ? "duplicate_in_batch" : "already_exists"}`,
      })),
    };
  }

  async deleteBatch(ids) {
    if (!Array.isArray(ids)) throw failure("body", "Provided argument is invalid");
    if (ids.length > MAX_BATCH) throw failure("body", `batchDeleteInstances only supports ${MAX_BATCH} instances at a time`);
    if (ids.length === 0) throw failure("body", "batchDeleteInstances should have at least 1 instance");
    if (!ids.every((id) => typeof id === "string")) throw failure("instance.invalid_id", "Instance ID is invalid");
    const out = { deleted: [], errors: [] };
    for (const id of ids) {
      try {
        if (!isId(id)) throw failure("instance.not_found", "no instance has such an id");
        if (!out.deleted.some((d) => d.id === id)) await this.#instance(id).delete(); // one that is named twice is deleted
        out.deleted.push({ id });
      } catch (e) {
        if (!e.message.includes("(instance.not_found)")) throw e;
        out.errors.push({ id, code: 10400, message: "workflows.api.error.instance.not_found" });
      }
    }
    return out;
  }
}

export default function makeBinding(inner) {
  return new WorkflowImpl(inner);
}
