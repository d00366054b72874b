interface Env {
  ASSETS: Fetcher;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const url = new URL(request.url);
    if (url.pathname === "/api/time") {
      return Response.json({ now: new Date().toISOString() });
    }
    if (url.pathname.startsWith("/members/")) {
      // The worker decides, and the file comes from the assets.
      if (request.headers.get("Authorization") !== "Bearer member") {
        return new Response("members only\n", { status: 401 });
      }
      const answer = await env.ASSETS.fetch(request);
      return new Response(answer.body, { status: answer.status, headers: { "Content-Type": "text/plain; charset=utf-8" } });
    }
    return new Response("no such call\n", { status: 404 });
  },
} satisfies ExportedHandler<Env>;
