// The store of a workflow, which the worker host serves.

// fault is an error with a name.
export const fault = (name, message) => Object.assign(new Error(message), { name });

// call asks the store. An error of the store is thrown with its name.
export async function call(store, path, body) {
  const response = await store.fetch(`http://store/${path}`, { method: "POST", body: JSON.stringify(body) });
  const answer = await response.json();
  if (!response.ok) throw fault(answer.name, answer.message);
  return answer;
}

const UNITS = { millisecond: 1, second: 1e3, minute: 6e4, hour: 36e5, day: 864e5, week: 6048e5, month: 2592e6, year: 31536e6 };

// duration is milliseconds: those of a number, or of "<n> <unit>". It is NaN for anything else.
export function duration(d) {
  if (typeof d === "number") return d;
  const m = /^\s*(\d+(?:\.\d+)?)\s*([a-z]+?)s?\s*$/.exec(String(d));
  return m ? Number(m[1]) * (UNITS[m[2]] ?? NaN) : NaN;
}
