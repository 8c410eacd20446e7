/** W3C `traceparent` of version 00, https://www.w3.org/TR/trace-context/#traceparent-header. */
import type { SpanContext } from "@opentelemetry/api";

/** Of a well-formed one (`isTraceparent`). Of its flags only `sampled` is known here. */
export const readTraceparent = (text: string): SpanContext => ({
  traceId: text.slice(3, 35),
  spanId: text.slice(36, 52),
  traceFlags: isSampled(text) ? 1 : 0,
});

export const writeTraceparent = ({ traceId, spanId, traceFlags }: SpanContext): string =>
  `00-${traceId}-${spanId}-0${traceFlags & 1}`;

/** The lowest bit of the flags, the last character's: `01`, and `03` of later levels. */
export const isSampled = (text: string): boolean => "13579bdf".includes(text.at(-1) as string);
