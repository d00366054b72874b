// Requests to the host name of a version, wherever names lead: the gateway is asked at its address.
import { request as send, createServer } from "node:http";
import { connect } from "node:net";
import { Readable } from "node:stream";

const most = 20; // redirects

// answer makes a Response of what a gateway answered.
function answer(r, url) {
  const headers = new Headers();
  for (let i = 0; i < r.rawHeaders.length; i += 2) headers.append(r.rawHeaders[i], r.rawHeaders[i + 1]);
  const response = new Response([101, 204, 205, 304].includes(r.statusCode) ? null : Readable.toWeb(r), { status: r.statusCode, statusText: r.statusMessage, headers });
  Object.defineProperty(response, "url", { value: url });
  return response;
}

function once(base, request, body) {
  const url = new URL(request.url);
  return new Promise((done, failed) => {
    const r = send({ host: base.at, port: base.port, method: request.method, path: url.pathname + url.search, headers: { ...Object.fromEntries(request.headers), host: base.host }, signal: request.signal },
      (r) => done(answer(r, request.url)));
    r.on("error", failed);
    r.end(body);
  });
}

// fetchFrom is fetch for one version: a path, or any URL of its host.
export async function fetchFrom(base, input, init) {
  let request = new Request(input instanceof Request ? input : new URL(String(input), base.url), init);
  const body = request.body ? Buffer.from(await request.arrayBuffer()) : undefined;
  for (let n = 0; ; n++) {
    const r = await once(base, request, n === 0 ? body : undefined);
    const to = r.headers.get("location");
    if (request.redirect !== "follow" || ![301, 302, 303, 307, 308].includes(r.status) || !to) return r;
    const next = new URL(to, request.url);
    if (next.host !== base.url.host || n === most) return r;
    await r.body?.cancel();
    const again = [307, 308].includes(r.status);
    if (again && body) return once(base, new Request(next, { method: request.method, headers: request.headers, redirect: "manual" }), body);
    request = new Request(next, { method: again ? request.method : "GET", headers: request.headers });
  }
}

// listen opens an address on this machine that leads to one version: for browsers and other programs.
export async function listen(base) {
  const server = createServer((from, to) => {
    const r = send({ host: base.at, port: base.port, method: from.method, path: from.url, headers: { ...from.headers, host: base.host } }, (r) => {
      to.writeHead(r.statusCode, r.statusMessage, r.rawHeaders);
      r.pipe(to);
    });
    r.on("error", () => to.destroy());
    from.pipe(r);
  });
  server.on("upgrade", (from, socket, head) => {
    const to = connect(base.port, base.at, () => {
      const headers = Object.entries({ ...from.headers, host: base.host }).map(([name, value]) => `${name}: ${value}`);
      to.write(`${from.method} ${from.url} HTTP/1.1\r\n${headers.join("\r\n")}\r\n\r\n`);
      to.write(head);
      socket.pipe(to).pipe(socket);
    });
    to.on("error", () => socket.destroy());
    socket.on("error", () => to.destroy());
  });
  await new Promise((done, failed) => server.once("error", failed).listen(0, "127.0.0.1", done));
  server.unref();
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => { server.closeAllConnections(); server.close(); } };
}
