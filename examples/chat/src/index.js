// A chat: each room is a Durable Object with its history in SQL. The websockets hibernate, so
// an idle room needs no memory.
import { DurableObject } from "cloudflare:workers";

export class Room extends DurableObject {
  constructor(ctx, env) {
    super(ctx, env);
    ctx.storage.sql.exec("CREATE TABLE IF NOT EXISTS message(id INTEGER PRIMARY KEY, author TEXT NOT NULL, text TEXT NOT NULL)");
  }

  fetch(request) {
    const { 0: client, 1: server } = new WebSocketPair();
    this.ctx.acceptWebSocket(server);
    server.serializeAttachment({ author: new URL(request.url).searchParams.get("name") ?? "guest" });
    server.send(JSON.stringify({ history: this.history() }));
    return new Response(null, { status: 101, webSocket: client });
  }

  webSocketMessage(socket, text) {
    this.say(socket.deserializeAttachment().author, String(text));
  }

  webSocketClose(socket, code, reason) {
    socket.close(code, reason);
  }

  // say stores a message and sends it to all clients in the room.
  say(author, text) {
    this.ctx.storage.sql.exec("INSERT INTO message (author, text) VALUES (?, ?)", author, text);
    for (const socket of this.ctx.getWebSockets()) socket.send(JSON.stringify({ author, text }));
    return this.history().length;
  }

  // history is the last 50 messages.
  history() {
    const rows = this.ctx.storage.sql.exec("SELECT author, text FROM message ORDER BY id DESC LIMIT 50").toArray();
    return rows.reverse();
  }
}

export default {
  async fetch(request, env) {
    const [, name = ""] = new URL(request.url).pathname.split("/");
    if (name === "") return new Response("Connect a websocket to /ROOM?name=YOU, or POST a message there.\n");
    const room = env.ROOMS.getByName(name);
    if (request.headers.get("Upgrade") === "websocket") return room.fetch(request);
    if (request.method === "POST") {
      const author = new URL(request.url).searchParams.get("name") ?? "guest";
      return Response.json({ messages: await room.say(author, await request.text()) });
    }
    return Response.json(await room.history());
  },
};
