// A key is a path: PUT stores, GET gives, DELETE deletes, POST uploads in parts of 5 MiB.
const part = 5 << 20;
export default { async fetch(request, env) {
  const key = new URL(request.url).pathname.slice(1);
  switch (request.method) {
    case "PUT": return new Response((await env.FILES.put(key, request.body)).etag);
    case "DELETE": await env.FILES.delete(key); return new Response("deleted");
    case "POST": {
      const body = await request.arrayBuffer(), parts = [];
      const upload = await env.FILES.createMultipartUpload(key);
      for (let i = 0; i * part < body.byteLength; i++) parts.push(await upload.uploadPart(i + 1, body.slice(i * part, (i + 1) * part)));
      return new Response((await upload.complete(parts)).etag);
    }
  }
  const o = await env.FILES.get(key);
  return o === null ? new Response("none", { status: 404 }) : new Response(o.body, { headers: { etag: o.httpEtag } });
} };
