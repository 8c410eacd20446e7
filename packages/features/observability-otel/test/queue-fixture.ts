/** A queue, a collector that answers as it is told, and a clock that stands still. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import type { Clock } from "@svc/contract";
import { type CapturedLine, type CapturedLogger, captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import type { Outcome } from "../src/export/collector.ts";
import { SpanQueue } from "../src/export/queue.ts";

export const TAKEN: Outcome = { kind: "taken", rejected: 0 };
export const REFUSED: Outcome = { kind: "refused", reason: "status 401" };
export const failed = (retryAfterMs?: number): Outcome => ({ kind: "failed", reason: "ECONNREFUSED", retryAfterMs });

export function fixture() {
  const clock = fakeClock();
  const log = captureLogger();
  const batches: number[] = [];
  let answer: () => Outcome | Promise<Outcome> = () => TAKEN;
  let isClosed = false;
  const collector = {
    send: async (spans: readonly ReadableSpan[]) => {
      batches.push(spans.length);
      return answer();
    },
    close: () => {
      isClosed = true;
    },
  };
  // As the runtime's timers do: what was the scope when they were set is it when they fire.
  const after: Clock["after"] = (delayMs, run) => clock.after(delayMs, AsyncLocalStorage.bind(run));
  const queue = new SpanQueue({ collector, log, clock: { ...clock, after }, random: () => 1 });
  return {
    clock,
    log,
    queue,
    batches,
    get isClosed() {
      return isClosed;
    },
    set answer(next: () => Outcome | Promise<Outcome>) {
      answer = next;
    },
    add(count: number, text = "") {
      for (let index = 0; index < count; index += 1) queue.add(spanOf(text));
    },
  };
}

/** What the queue looks at. */
const spanOf = (text: string): ReadableSpan => ({ attributes: { text, number: 7 } }) as unknown as ReadableSpan;

export const warnings = (log: CapturedLogger): CapturedLine[] => log.lines.filter(({ level }) => level === "warn");
