const page = `<!doctype html>
<title>Echo</title>
<input id="text" placeholder="type and press Enter" autofocus>
<pre id="log"></pre>
<script>
  const socket = new WebSocket(location.href.replace(/^http/, "ws"));
  const log = (line) => (document.getElementById("log").textContent += line + "\\n");
  socket.onmessage = (event) => log(event.data);
  socket.onclose = (event) => log("closed: " + event.code);
  document.getElementById("text").onchange = (event) => {
    socket.send(event.target.value);
    event.target.value = "";
  };
</script>`;

export default {
  async fetch(request: Request): Promise<Response> {
    if (request.headers.get("Upgrade") !== "websocket") {
      return new Response(page, { headers: { "Content-Type": "text/html; charset=utf-8" } });
    }
    const { 0: client, 1: server } = new WebSocketPair();
    server.accept();
    server.addEventListener("message", (event) => server.send(`echo: ${event.data}`));
    return new Response(null, { status: 101, webSocket: client });
  },
};
