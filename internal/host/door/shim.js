// The dispatch shim: events for the worker come in here, over a private socket.
//
//   POST / {mark, event} -> 200 and what workerd says about the event, or 400 {error} when the worker has seen nothing
//
// event is an svc.Event in JSON: {scheduled: {cron, time}}, {queue: {queue, messages}} or {workflow: {workflow, job}}. It runs while its request is
// open: when the caller hangs up, workerd ends it. mark is printed when it is over, so that the reader of the log knows;
// with null for an event, mark is printed and nothing else happens.
const text = (bytes) => new TextDecoder().decode(bytes);

function message({ id, timestamp, attempts, content_type, body }) {
  const bytes = Uint8Array.fromBase64(body);
  const m = { id, timestamp: new Date(timestamp), attempts };
  switch (content_type) {
    case "text": return { ...m, body: text(bytes) };
    case "json": return { ...m, body: JSON.parse(text(bytes)) };
    case "bytes": return { ...m, body: bytes.buffer };
    default: return { ...m, serializedBody: bytes }; // v8
  }
}

// prepare is the call for an event. It throws before the worker has seen anything.
function prepare(event) {
  if (event === null) return () => null;
  const { scheduled, queue, workflow } = event;
  if (scheduled) {
    const controller = { cron: scheduled.cron, scheduledTime: new Date(scheduled.time) };
    return (worker) => worker.scheduled(controller);
  }
  if (queue) {
    const messages = (queue.messages ?? []).map(message);
    const { count = 0, bytes = 0, oldest = 0 } = queue.backlog ?? {};
    const metrics = { backlogCount: count, backlogBytes: bytes, oldestMessageTimestamp: oldest ? new Date(oldest) : undefined };
    return (worker) => worker.queue(queue.queue, messages, { metrics });
  }
  if (workflow) {
    return (worker, env) => env[`workflow:${workflow.workflow}`].run(workflow.job);
  }
  throw new TypeError("an event of an unknown kind");
}

export default {
  async fetch(request, env) {
    const { mark, event } = await request.json();
    let call;
    try {
      call = prepare(event);
    } catch (e) {
      return Response.json({ error: String(e) }, { status: 400 });
    }
    try {
      return Response.json(await call(env.WORKER, env));
    } catch (e) {
      return Response.json({ outcome: "exception", error: String(e) });
    } finally {
      console.log(mark);
    }
  },
};
