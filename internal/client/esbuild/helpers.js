// What "cf/config" and its older names export, as far as a value of the config needs it: a helper returns
// its options with a type, which is its own name in kebab case.
const kebab = (name) => name.replace(/[A-Z]/g, (c) => "-" + c.toLowerCase());
const family = (own = {}) => new Proxy(own, { get: (o, name) => o[name] ?? ((options) => ({ type: kebab(String(name)), ...options })) });
const value = (type) => (v) => ({ type, value: v });
const same = (v) => v;
const unsafe = (name, options) => ({ type: "unsafe:" + name, ...options });
export const bindings = family({ text: value("text"), json: value("json"), unsafe });
export const exports = family();
export const triggers = family();
export { same as defineConfig, same as defineWorker, same as defineSettings, same as defineContainer, same as defineWranglerConfig };
