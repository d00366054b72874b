import { HTTPException } from "hono/http-exception";

/** How one field of a request body is read: the value to store, or what is wrong. */
export type Reader = (value: unknown, name: string) => string | number | null;

const wrong = (name: string, want: string): never => {
  throw new HTTPException(422, { message: `${name}: want ${want}` });
};

export const text = (max: number): Reader => (value, name) => {
  if (typeof value !== "string" || value.trim() === "" || value.length > max) return wrong(name, `1 to ${max} characters`);
  return value.trim();
};

export const whole = (min: number, max: number): Reader => (value, name) => {
  if (typeof value !== "number" || !Number.isInteger(value) || value < min || value > max) {
    return wrong(name, `a whole number from ${min} to ${max}`);
  }
  return value;
};

export const email: Reader = (value, name) => {
  if (typeof value !== "string" || !/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(value)) return wrong(name, "an e-mail address");
  return value.toLowerCase();
};

export const oneOf = (...allowed: string[]): Reader => (value, name) => {
  if (typeof value !== "string" || !allowed.includes(value)) return wrong(name, `one of ${allowed.join(", ")}`);
  return value;
};

export const optional = (read: Reader): Reader => (value, name) => (value === undefined || value === null ? null : read(value, name));
