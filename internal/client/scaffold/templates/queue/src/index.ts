interface Job {
  text: string;
}

interface Env {
  JOBS: Queue<Job>;
  DONE: KVNamespace;
}

export default {
  // POST a text to queue it; GET lists what the queue has worked through.
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method === "POST") {
      await env.JOBS.send({ text: await request.text() });
      return new Response("queued\n", { status: 202 });
    }
    const { keys } = await env.DONE.list();
    return new Response(keys.map((key) => key.name + "\n").join("") || "nothing yet: POST a text\n");
  },

  // A handler that throws gets the batch again; one message is retried with message.retry().
  async queue(batch: MessageBatch<Job>, env: Env): Promise<void> {
    for (const message of batch.messages) {
      console.log("working on", message.body.text);
      await env.DONE.put(message.body.text, "");
    }
  },
};
