// A secret of the Secrets Store in the worker's own isolate.
class StoreSecret {
  #name;
  #value;

  constructor(name, value) {
    this.#name = name;
    this.#value = value;
  }

  async get() {
    if (this.#value !== undefined) return this.#value;
    throw new Error(`Secret "${this.#name}" not found: set it with svcctl env set`);
  }
}

export default function makeBinding({ name, value }) {
  return new StoreSecret(name, value);
}
