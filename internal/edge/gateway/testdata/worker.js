// The worker behind the gateway's tests. env.CTL is the test: /wait/KEY answers
// once the test releases KEY, /record/WHAT tells the test that WHAT happened.
const text = new TextEncoder();

export default {
  async fetch(req, env, ctx) {
    const url = new URL(req.url);
    switch (url.pathname) {
      case "/raw":
        return new Response(req.body);
      case "/early":
        return new Response("no thanks", { status: 413 });
      case "/bytes":
        return new Response(new Uint8Array(Number(url.searchParams.get("size"))).fill(97));
      case "/status":
        return new Response(null, { status: Number(url.searchParams.get("code")), headers: { "x-own": "1" } });
      case "/headers":
        return new Response("own", { headers: [["Set-Cookie", "a=1"], ["Set-Cookie", "b=2"], ["Svc-Version", "fake"], ["Svc-Error", "fake"], ["X-Own", "1"]] });
      case "/sse":
        return new Response(events(env), { headers: { "content-type": "text/event-stream" } });
      case "/hang":
        return hang(req, env, ctx, url.searchParams.get("id"));
      case "/ws":
        return websocket();
      case "/wait":
        await env.CTL.fetch("http://ctl/wait/" + url.searchParams.get("id"));
        return new Response("waited");
      case "/throw":
        throw new Error("boom");
      case "/own500":
        return new Response(text.encode("Internal Server Error"), { status: 500 });
      case "/version":
        return new Response(env.VERSION);
    }
    return Response.json({
      method: req.method, url: req.url, cf: req.cf, headers: Object.fromEntries(req.headers), body: await req.text(),
    });
  },
};

// events sends the second event only when the test has seen the first.
function events(env) {
  const { readable, writable } = new TransformStream();
  const writer = writable.getWriter();
  (async () => {
    await writer.write(text.encode("data: one\n\n"));
    await env.CTL.fetch("http://ctl/wait/first-seen");
    await writer.write(text.encode("data: two\n\n"));
    await writer.close();
  })();
  return readable;
}

// hang never answers; it records that it began and that its client went away.
function hang(req, env, ctx, id) {
  ctx.waitUntil(new Promise((resolve) => {
    req.signal.addEventListener("abort", async () => {
      await env.CTL.fetch("http://ctl/record/aborted-" + id);
      resolve();
    });
  }));
  ctx.waitUntil(env.CTL.fetch("http://ctl/record/began-" + id));
  return new Promise(() => setTimeout(() => {}, 600000));
}

function websocket() {
  const [client, server] = Object.values(new WebSocketPair());
  server.accept();
  server.addEventListener("message", (e) => {
    if (e.data === "close") server.close(4001, "as asked");
    else server.send(e.data);
  });
  server.addEventListener("close", () => server.close());
  return new Response(null, { status: 101, webSocket: client });
}
