/** A message's payload as the JSON text that conditions and steps see. */

/** JSON as it is, other text as a JSON string, bytes that are no text as `{"base64":"…"}`; null for none. */
export function payloadText(payload: Uint8Array): string | null {
  if (payload.length === 0) return null;
  try {
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(payload);
    return isJson(text) ? text : JSON.stringify(text);
  } catch {
    return JSON.stringify({ base64: Buffer.from(payload).toString("base64") });
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
