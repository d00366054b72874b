// An object that throws when the worker uses it. Looking at it is no use: libraries ask an
// env for symbols, for "then" when it is awaited, and for "toJSON" when it is printed.
const quiet = new Set(["then", "toJSON", "constructor"]);

export default function makeBinding({ message }) {
  const fail = () => {
    throw new Error(message);
  };
  const get = (_, key) => (typeof key === "symbol" || quiet.has(key) ? undefined : fail());
  return new Proxy(Object.create(null), { get, set: fail, has: () => false, deleteProperty: fail, defineProperty: fail });
}
