/**
 * What a message and a run of a procedure are part of, as a W3C `traceparent` (https://www.w3.org/TR/trace-context/): a trace
 * goes on over a restart. NULL where nobody traces. Part of the schema: once released it stays as it is, byte for byte.
 */
export const TRACES_STEP = `
  ALTER TABLE inbox ADD COLUMN traceparent TEXT;
  -- Of its wait, once its first attempt has begun.
  ALTER TABLE inbox_open ADD COLUMN traceparent TEXT;
  ALTER TABLE inbox_lost ADD COLUMN traceparent TEXT;
  ALTER TABLE outbox ADD COLUMN traceparent TEXT;
  ALTER TABLE sop_runs ADD COLUMN traceparent TEXT;
`;
