// Values of a workflow (params, results, payloads) as JSON. What JSON has is itself; everything else that a
// structured clone may hold is an object with the key "$", which names its type:
//
//   {"$":"undefined"}  {"$":"number","v":"NaN"}  {"$":"bigint","v":"1"}  {"$":"date","v":0}  {"$":"regexp","v":["a","g"]}
//   {"$":"map","v":[[key,value]]}  {"$":"set","v":[value]}  {"$":"error","v":["TypeError","message","stack"]}
//   {"$":"bytes","v":"base64","c":"Uint8Array"}  {"$":"object","v":[["$",1]]}  {"$":"ref","v":3}
//
// A ref is an object that is there already: the objects are numbered from 0, in the order in which they begin.
const notCloneable = (x) => new DOMException(`${typeof x === "object" ? (x.constructor?.name ?? "an object") : typeof x} cannot be stored`, "DataCloneError");

const ERRORS = { EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError };

class Encoder {
  bytes = 0; // about the size of the value in memory
  #seen = new Map();

  encode(x) {
    switch (typeof x) {
      case "string": this.bytes += x.length; return x;
      case "boolean": this.bytes += 1; return x;
      case "number": this.bytes += 8; return Number.isFinite(x) && !Object.is(x, -0) ? x : { $: "number", v: Object.is(x, -0) ? "-0" : String(x) };
      case "undefined": return { $: "undefined" };
      case "bigint": this.bytes += 8; return { $: "bigint", v: String(x) };
      case "object": return x === null ? null : this.#object(x);
    }
    throw notCloneable(x);
  }

  #object(x) {
    const seen = this.#seen.get(x);
    if (seen !== undefined) return { $: "ref", v: seen };
    this.#seen.set(x, this.#seen.size);
    if (Array.isArray(x)) return Array.from(x, (y) => this.encode(y));
    const prototype = Object.getPrototypeOf(x);
    if (prototype === Object.prototype || prototype === null) return this.#plain(x);
    if (x instanceof Date) return { $: "date", v: Number.isNaN(+x) ? null : +x };
    if (x instanceof Map) return { $: "map", v: Array.from(x, ([k, y]) => [this.encode(k), this.encode(y)]) };
    if (x instanceof Set) return { $: "set", v: Array.from(x, (y) => this.encode(y)) };
    if (x instanceof Error) return { $: "error", v: [x.name, x.message, x.stack].map((s) => this.encode(String(s))) };
    if (x instanceof RegExp) return { $: "regexp", v: [x.source, x.flags] };
    if (x instanceof ArrayBuffer) return this.#bytes(new Uint8Array(x));
    if (ArrayBuffer.isView(x)) return this.#bytes(new Uint8Array(x.buffer, x.byteOffset, x.byteLength), x.constructor.name);
    throw notCloneable(x);
  }

  #plain(x) {
    const entries = Object.entries(x);
    for (const entry of entries) entry[1] = (this.bytes += entry[0].length, this.encode(entry[1]));
    return entries.some(([k]) => k === "$" || k === "__proto__") ? { $: "object", v: entries } : Object.fromEntries(entries);
  }

  #bytes(x, c) {
    this.bytes += x.byteLength;
    return { $: "bytes", v: x.toBase64(), c };
  }
}

// encode gives the JSON of a value and about its size in bytes. It throws a DataCloneError for what cannot be stored.
export function encode(value) {
  const e = new Encoder();
  const json = JSON.stringify(e.encode(value));
  return { json, bytes: e.bytes };
}

// decode reads what encode wrote, parsed already. It may change j.
export function decode(j) {
  const all = [];
  const keep = (x) => (all.push(x), x);
  const list = (to, from) => {
    for (const y of from) to.push(read(y));
    return to;
  };
  function read(x) {
    if (x === null || typeof x !== "object") return x;
    if (Array.isArray(x)) return list(keep([]), x);
    if (!("$" in x)) {
      keep(x);
      for (const k of Object.keys(x)) x[k] = read(x[k]);
      return x;
    }
    const { $, v, c } = x;
    switch ($) {
      case "undefined": return undefined;
      case "number": return Number(v);
      case "bigint": return BigInt(v);
      case "ref": return all[v];
      case "date": return keep(new Date(v ?? NaN));
      case "regexp": return keep(new RegExp(v[0], v[1]));
      case "bytes": return keep(view(Uint8Array.fromBase64(v), c));
      case "error": return keep(Object.assign(new (ERRORS[v[0]] ?? Error)(v[1]), { name: v[0], stack: v[2] }));
      case "set": {
        const set = keep(new Set());
        for (const y of v) set.add(read(y));
        return set;
      }
      case "map": {
        const map = keep(new Map());
        for (const [k, y] of v) map.set(read(k), read(y));
        return map;
      }
      case "object": {
        const object = keep({});
        for (const [k, y] of v) Object.defineProperty(object, k, { value: read(y), configurable: true, enumerable: true, writable: true });
        return object;
      }
    }
    throw new TypeError(`a stored value has the unknown type ${$}`);
  }
  return read(j);
}

function view(bytes, c) {
  if (c === undefined) return bytes.buffer;
  return c === "Uint8Array" ? bytes : new globalThis[c](bytes.buffer);
}
