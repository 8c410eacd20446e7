/** A run that somebody waits for: what it does, and what it asks people, until it has ended. */
import type { SvcEvent } from "@svc/contract";
import type { ControlRequest } from "@svc/gateway/control";
import type { EventHub } from "@svc/kernel";
import { type Approvals, isQuestionOf } from "@svc/sop";

export interface FollowParts {
  readonly events: EventHub;
  readonly approvals: Pick<Approvals, "get">;
}

/** Resolves with the run's id once it has ended. Rejects when nobody waits any more; the run goes on then. */
export async function followRun(
  { events, approvals }: FollowParts,
  { send, signal }: ControlRequest,
  start: () => Promise<{ readonly id: string }>,
): Promise<string> {
  const ended = Promise.withResolvers<void>();
  const early: SvcEvent[] = [];
  let id: string | undefined;
  const tell = (event: SvcEvent): void => {
    if (id === undefined) return void early.push(event);
    if (event.type === "human_approval_request" && event.origin !== "external" && isQuestionOf(id, event)) {
      send({ type: "question", run: id, title: event.title, approval: approvals.get(event)?.n ?? null });
    }
    if (event.type === "sop-run-step" && event.runId === id) {
      send({ type: "step", run: id, step: event.step, status: event.status });
    }
    if (event.type === "sop-run-end" && event.runId === id) ended.resolve();
  };
  const subscription = events.subscribe({ tell: ({ event }) => tell(event), dropped: () => {} });
  const stop = (): void => ended.reject(signal.reason as Error);
  signal.addEventListener("abort", stop, { once: true });
  try {
    id = (await start()).id;
    early.forEach(tell);
    await ended.promise;
    return id;
  } finally {
    subscription.end();
    signal.removeEventListener("abort", stop);
  }
}
