/** Takes secrets out of a value that is shown: to a model, in the journal, in a list of messages. */
import type { Json } from "@svc/contract";

/** The same value when there is nothing to take out, which is found out without walking through it. */
export function redactJson(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  if (value === null || typeof value === "boolean") return value;
  const text = JSON.stringify(value);
  return redact(text) === text ? value : walk(value, redact);
}

function walk(value: Json, redact: (text: string) => string): Json {
  if (typeof value === "string") return redact(value);
  // A PIN can stand there as a number.
  if (typeof value === "number") return redact(String(value)) === String(value) ? value : redact(String(value));
  if (Array.isArray(value)) return value.map((item: Json) => walk(item, redact));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), walk(item, redact)]));
}
