// The relay stands for a worker of another process. It connects for each call, so that a call
// ends where it began, and the next one reaches what the target is then.
import { WorkerEntrypoint } from "cloudflare:workers";

const HEADER = "svc-call";

export default class Relay extends WorkerEntrypoint {
  async fetch(request) {
    const headers = new Headers(request.headers);
    const call = JSON.parse(headers.get(HEADER));
    headers.delete(HEADER);
    if (!headers.has("host")) headers.set("host", new URL(request.url).host);
    return this.#try((target) => target.fetch(new Request(request, { headers })), call);
  }

  // call calls the method at path.
  async call(call, path, args) {
    return this.#try((target) => at(target, path)(...args), call);
  }

  // get reads the property at path.
  async get(call, path) {
    return this.#try((target) => at(target, path), call);
  }

  async #try(use, { object, ...call }) {
    const { address, service, entrypoint, props } = this.ctx.props;
    try {
      const port = this.env.DEBUG.connect(address);
      if (object !== undefined) return await use(port.getActor(service, entrypoint, object));
      return await use(port.getEntrypoint(service, entrypoint, { ...props, "svc:call": call }));
    } catch (e) {
      if (e?.retryable !== true) throw e;
      throw (await this.#why()) ?? e;
    }
  }

  // why is the error of a target that cannot be called; undefined if it can.
  async #why() {
    const { socket, target } = this.ctx.props;
    try {
      const answer = await this.env.ASK.fetch("http://ask/" + socket);
      if (answer.status !== 200) return undefined;
      const { code, detail } = await answer.json();
      return new Error(`service ${target}: ${code}: ${detail}`);
    } catch {
      return undefined; // the connection's own error says enough
    }
  }
}

const at = (target, path) => path.reduce((value, key) => value[key], target);
