export default {
  async fetch(request, env) {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith("/files/")) return env.USERS.fetch(request);
    if (pathname === "/list") {
      const names = [];
      const count = await env.ADMIN.list((name) => names.push(name)); // called by the other worker
      return Response.json({ count, names });
    }
    const name = pathname.slice(1) || "anyone";
    using account = await env.USERS.account(name);
    return new Response(`Hello ${name}, visit ${await account.visit()}\n`);
  },
};
