/** `otel_headers`, written as https://opentelemetry.io/docs/specs/otel/protocol/exporter/ has it for the environment. */
import { SvcError } from "@svc/contract";

/** Throws CONFIG_INVALID, which quotes nothing. */
export function headersOf(pairs: string | undefined): Record<string, string> {
  const whole = (pairs ?? "").split(",").filter((pair) => pair.trim() !== "");
  return Object.fromEntries(whole.map((pair) => headerOf(pair.trim())));
}

function headerOf(pair: string): [name: string, value: string] {
  const index = pair.indexOf("=");
  const name = pair.slice(0, Math.max(index, 0));
  const value = decoded(pair.slice(index + 1));
  if (TOKEN.test(name) && value !== undefined && VALUE.test(value)) return [name, value];
  throw new SvcError("CONFIG_INVALID", "A pair in observability.otel_headers is no header.", {
    hint: "Write name=value pairs joined by commas, the values percent-encoded: authorization=Bearer%20…",
  });
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const VALUE = /^[\t\x20-\x7e]*$/;

function decoded(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    return undefined;
  }
}
