interface Env {
  DB: D1Database;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method === "POST") {
      const title = (await request.text()).trim();
      if (title === "") return new Response("the title is missing\n", { status: 400 });
      await env.DB.prepare("INSERT INTO tasks (title) VALUES (?)").bind(title).run();
      return new Response(null, { status: 201 });
    }
    const { results } = await env.DB.prepare("SELECT id, title FROM tasks ORDER BY id").all();
    return Response.json(results);
  },
};
