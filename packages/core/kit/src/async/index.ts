/** `@svc/kit/async`: retries, limits and queues. The only implementations; all of them take an injected clock and an `AbortSignal`. */
export * from "./backoff.ts";
export * from "./queues.ts";
export {
  type TimeoutOptions,
  keepingAlive,
  runtimeTimers,
  unlessAborted,
  withDeadline,
  withTimeout,
} from "./timeout.ts";
