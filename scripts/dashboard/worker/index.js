// A worker that stores and logs what it is sent: the corpus of texts that must stay texts.
export default {
  async fetch(request, env) {
    const url = new URL(request.url);
    if (url.pathname === "/throw") throw new Error(url.searchParams.get("text"));
    if (request.method !== "POST") return new Response("hello\n");
    for (const text of await request.json()) {
      console.log(text);
      console.error(text);
      await env.DB.prepare("INSERT INTO notes (author, text) VALUES (?, ?)").bind(text, text).run();
      await env.KV.put(text, text, { metadata: { text } });
      await env.FILES.put(text, text, { httpMetadata: { contentType: text.replace(/[^\x20-\x7e]/g, "") } });
      await env.JOBS.send({ text });
    }
    return new Response("stored\n");
  },
};
