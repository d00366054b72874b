// A worker for fault tests: it keeps what it acknowledges, and everything it
// says names its version.
export default {
  async fetch(request, env) {
    const { pathname, searchParams } = new URL(request.url);
    switch (pathname) {
      case "/add":
        await env.DB.prepare("INSERT INTO lines (text) VALUES (?)").bind(await request.text()).run();
        return new Response(env.VERSION_ID);
      case "/all":
        return Response.json(await env.DB.prepare("SELECT text FROM lines").raw());
      case "/who":
        return Response.json({ version: env.VERSION_ID, round: env.ROUND ?? "" });
      case "/stream":
        return new Response(lines(env.VERSION_ID, Number(searchParams.get("n"))));
      case "/socket":
        return echo(env.VERSION_ID);
      default:
        return new Response(env.VERSION_ID);
    }
  },
};

/** n lines, one every 20 ms. */
function lines(text, n) {
  const line = new TextEncoder().encode(`${text}\n`);
  return new ReadableStream({
    async pull(controller) {
      await scheduler.wait(20);
      controller.enqueue(line);
      if (--n <= 0) controller.close();
    },
  });
}

/** A websocket that answers every message with the version. */
function echo(text) {
  const { 0: client, 1: server } = new WebSocketPair();
  server.accept();
  server.addEventListener("message", () => server.send(text));
  return new Response(null, { status: 101, webSocket: client });
}
