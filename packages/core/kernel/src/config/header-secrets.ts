/**
 * The secrets in `observability.otel_headers`. The key as a whole stands nowhere else; what a collector, or an error of a
 * library, would quote is one header's value, as it is written or as it is sent, with its scheme or without.
 */

/** Shorter ones name a tenant or a data set and no secret, and would be taken out of every other line. */
const LEAST_CHARS = 8;

export function headerSecrets(pairs: unknown): string[] {
  if (typeof pairs !== "string") return [];
  const written = pairs.split(",").map((pair) => pair.slice(pair.indexOf("=") + 1).trim());
  const sent = written.map(decoded);
  const credentials = sent.map((value) => value.replace(/^\w+\s+/, ""));
  return [...written, ...sent, ...credentials].filter((value) => value.length >= LEAST_CHARS);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
