/** Milliseconds that a `Retry-After` header asks for (RFC 9110, 10.2.3: whole seconds, or a date). */
export function retryAfterMs(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header.trim())) return Number(header) * 1000;
  const atMs = Date.parse(header);
  // "-1" and "1.5" are dates to the parser, of 2001: only what names a day is one.
  if (!/[a-z]/i.test(header) || Number.isNaN(atMs)) return undefined;
  return Math.max(0, atMs - nowMs);
}
