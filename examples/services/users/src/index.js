import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";

// Account is an object of this worker. Others get a stub, whose calls run here.
class Account extends RpcTarget {
  #kv;
  #name;

  constructor(kv, name) {
    super();
    this.#kv = kv;
    this.#name = name;
  }

  async visit() {
    const visits = Number(await this.#kv.get(this.#name)) + 1;
    await this.#kv.put(this.#name, String(visits));
    return visits;
  }
}

export default class Users extends WorkerEntrypoint {
  fetch(request) {
    return new Response(`users: ${new URL(request.url).pathname}\n`);
  }

  account(name) {
    return new Account(this.env.USERS, name);
  }
}

// Admin is for the workers whose project file names it; props say which of them calls.
export class Admin extends WorkerEntrypoint {
  async list(each) {
    console.log(`${this.ctx.props.caller} lists the users`);
    const { keys } = await this.env.USERS.list();
    for (const { name } of keys) await each(name);
    return keys.length;
  }
}
