// A worker that stores and logs what it is sent: the corpus of texts that must stay texts.
import { WorkflowEntrypoint } from "cloudflare:workers";

export class Order extends WorkflowEntrypoint {
  async run(event, step) {
    for (const text of event.payload.texts) await step.do(text, async () => ({ text }));
    await step.waitForEvent("an event that never comes", { type: "never", timeout: "1 hour" });
  }
}

export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/throw") throw new Error(url.searchParams.get("text"));
    if (request.method !== "POST") return new Response("hello\n");
    const texts = await request.json();
    await env.FRAGILE.send({ text: texts[0] });
    await env.ORDER.create({ id: "order-1", params: { texts: texts.slice(0, 3) } });
    for (const text of texts) {
      console.log(text);
      console.error(text);
      await env.DB.prepare("INSERT INTO notes (author, text) VALUES (?, ?)").bind(text, text).run();
      await env.KV.put(text, text, { metadata: { text } });
      await env.FILES.put(text, text, { httpMetadata: { contentType: text.replace(/[^\x20-\x7e]/g, "") } });
      await env.JOBS.send({ text });
    }
    return new Response("stored\n");
  },
  async queue(batch) {
    throw new Error(batch.messages[0].body.text);
  },
};
