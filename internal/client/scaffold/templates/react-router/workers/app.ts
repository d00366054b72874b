import { createRequestHandler } from "react-router";

declare module "react-router" {
  interface AppLoadContext {
    env: Env;
  }
}

interface Env {
  GREETING: string;
}

const handle = createRequestHandler(() => import("virtual:react-router/server-build"), import.meta.env.MODE);

export default {
  fetch: (request: Request, env: Env) => handle(request, { env }),
};
