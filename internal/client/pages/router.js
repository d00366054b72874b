// The rest of the module defines routes: in the order in which they are tried, with the
// handlers of one method and path each.

function* handlersFor(request) {
  const { pathname } = new URL(request.url);
  for (const route of [...routes].reverse()) {
    if (route.method && route.method !== request.method) continue;
    const params = route.middlewares.length ? route.inside(pathname) : null;
    const mount = params && route.mount(pathname);
    if (!mount) continue;
    for (const handler of route.middlewares.flat()) yield { handler, params: params.params, path: mount.path };
  }
  for (const route of routes) {
    if (route.method && route.method !== request.method) continue;
    const found = route.modules.length ? route.exact(pathname) : null;
    if (!found) continue;
    for (const handler of route.modules.flat()) yield { handler, params: found.params, path: found.path };
    return;
  }
}

/** matcher matches a path with a pattern whose groups are the parameters; a name that ends with * has a list. */
function matcher(pattern, names) {
  const expression = new RegExp(pattern, "i");
  return (pathname) => {
    const m = expression.exec(pathname);
    if (!m) return null;
    const params = {};
    names.forEach((name, i) => {
      if (m[i + 1] === undefined) return;
      if (name.endsWith("*")) params[name.slice(0, -1)] = m[i + 1].split("/");
      else params[name] = m[i + 1];
    });
    return { path: m[0], params };
  };
}

function route(method, exact, inside, names, mount, mountNames, modules, middlewares) {
  return { method, exact: matcher(exact, names), inside: matcher(inside, names), mount: matcher(mount, mountNames), modules, middlewares };
}

const copy = (response) => new Response([101, 204, 205, 304].includes(response.status) ? null : response.body, response);

export default {
  async fetch(original, env, ctx) {
    const handlers = handlersFor(original);
    let request = original, data = {}, open = false;
    const next = async (input, init) => {
      if (input !== undefined) request = new Request(typeof input === "string" ? new URL(input, request.url).toString() : input, init);
      const { value, done } = handlers.next();
      if (done) return copy(await env.ASSETS.fetch(request));
      const response = await value.handler({
        request: new Request(request.clone()),
        functionPath: value.path,
        next,
        params: value.params,
        get data() { return data; },
        set data(changed) {
          if (typeof changed !== "object" || changed === null) throw new Error("context.data must be an object");
          data = changed;
        },
        env,
        waitUntil: ctx.waitUntil.bind(ctx),
        passThroughOnException: () => { open = true; },
      });
      if (!(response instanceof Response)) throw new Error("Your Pages function should return a Response");
      return copy(response);
    };
    try {
      return await next();
    } catch (error) {
      if (open) return copy(await env.ASSETS.fetch(request));
      throw error;
    }
  },
};
