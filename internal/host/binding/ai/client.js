// Workers AI in the worker's own isolate: the worker host calls the API.
import { span } from "svc-internal:trace";

const unsupported = (what) => {
  throw new Error(`${what} is not supported by this server; env.AI.run is, for text generation and embeddings`);
};

class Ai {
  #service;
  #resource;
  aiGatewayLogId = null;
  lastRequestId = null;

  constructor(service, resource) {
    this.#service = service;
    this.#resource = resource;
  }

  async run(model, inputs, options) {
    const body = JSON.stringify({ model: String(model), inputs: inputs ?? {} });
    const response = await span(this.#resource, "run", () => this.#service.fetch("http://ai/run", { method: "POST", body, signal: options?.signal }));
    if (options?.returnRawResponse) return response;
    if (!response.ok) throw Object.assign(new Error((await response.json()).message), { name: "InferenceUpstreamError" });
    return response.headers.get("content-type") === "text/event-stream" ? response.body : response.json();
  }

  async models() {
    unsupported("env.AI.models");
  }

  async toMarkdown() {
    unsupported("env.AI.toMarkdown");
  }

  gateway() {
    unsupported("env.AI.gateway");
  }

  autorag() {
    unsupported("env.AI.autorag");
  }

  aiSearch() {
    unsupported("env.AI.aiSearch");
  }
}

export default function makeBinding({ service, resource }) {
  return new Ai(service, resource);
}
