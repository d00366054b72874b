// Mail in the worker's own isolate. A message is an EmailMessage of cloudflare:email, whose
// text is complete, or an object of its parts.
import { span } from "svc-internal:trace";

const RAW = "EmailMessage::raw";

// bytes is the text of an EmailMessage.
async function bytes(raw) {
  if (raw instanceof ReadableStream) return new Uint8Array(await new Response(raw).arrayBuffer());
  return typeof raw === "string" ? new TextEncoder().encode(raw) : raw;
}

const base64 = (content) => {
  const list = typeof content === "string" ? content : content instanceof ArrayBuffer ? new Uint8Array(content) : new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  return typeof list === "string" ? list : list.toBase64?.() ?? btoa(Array.from(list, (b) => String.fromCharCode(b)).join(""));
};

const list = (v) => (v === undefined || v === null ? [] : Array.isArray(v) ? v : [v]);
const address = (v) => (typeof v === "object" && v !== null ? { name: String(v.name ?? ""), email: String(v.email) } : { name: "", email: String(v ?? "") });

function parts(m) {
  return {
    from: address(m.from), to: list(m.to).map(address), cc: list(m.cc).map(address), bcc: list(m.bcc).map(address),
    reply_to: list(m.replyTo).map(address), subject: String(m.subject ?? ""), text: m.text, html: m.html,
    headers: Object.fromEntries(Object.entries(m.headers ?? {}).map(([k, v]) => [k, String(v)])),
    attachments: list(m.attachments).map((a) => ({
      filename: a.filename ?? "", type: a.type ?? "application/octet-stream", disposition: a.disposition ?? "attachment",
      content_id: a.contentId ?? "", content: base64(a.content),
    })),
  };
}

class SendEmail {
  #service;
  #resource;

  constructor(service, resource) {
    this.#service = service;
    this.#resource = resource;
  }

  async send(message) {
    if (typeof message !== "object" || message === null) throw new TypeError("send: the argument must be a message");
    const whole = RAW in message;
    const query = whole ? `?from=${encodeURIComponent(message.from)}&to=${encodeURIComponent(message.to)}` : "";
    const body = whole ? await bytes(message[RAW]) : JSON.stringify(parts(message));
    const response = await span(this.#resource, "send", () => this.#service.fetch(`http://email/${whole ? "raw" : "parts"}${query}`, { method: "POST", body }));
    const answer = await response.json();
    if (!response.ok) throw Object.assign(new Error(answer.message), { code: answer.code });
    return { messageId: answer.id };
  }
}

export default function makeBinding({ service, resource }) {
  return new SendEmail(service, resource);
}
