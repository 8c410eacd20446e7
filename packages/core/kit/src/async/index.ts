/** `@svc/kit/async`: retries, limits and queues. The only implementations; all of them take an injected clock and an `AbortSignal`. */
export * from "./abort.ts";
export * from "./backoff.ts";
export * from "./keyed-queue.ts";
export * from "./semaphore.ts";
export { type TimeoutOptions, withTimeout } from "./timeout.ts";
