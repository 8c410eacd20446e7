/** The payload of an event, parsed when the first condition asks, and once for all of them. */

/** Undefined: there is none, or it is not JSON. */
export type PayloadReader = () => unknown;

export function payloadReader(text: string | null): PayloadReader {
  let read: { readonly value: unknown } | undefined;
  return () => (read ??= { value: parsed(text) }).value;
}

function parsed(text: string | null): unknown {
  if (text === null) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
