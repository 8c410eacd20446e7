/** Messages of channels and requests as events that start procedures. */
import type { InTransaction } from "@svc/messaging";
import type { RegisteredIngress } from "@svc/runtime";
import type { Dispatched, Sops } from "@svc/sop";
import type { IdempotencyClaim, Store } from "@svc/store";
import type { Caller } from "./pipeline.ts";

type Dispatch = Pick<Sops, "hasPath" | "dispatchIn">;

/**
 * Each message of an arrival that is kept, and was not seen before, is one event of its path; its runs are on disk with it or
 * not at all, so that no kill loses one of the two. Undefined: nothing is started by that path.
 */
export function messageEvents(sops: Dispatch, path: string): InTransaction | undefined {
  if (!sops.hasPath(path)) return undefined;
  return ({ messages }, arrived) => {
    if (arrived.state === "replayed") return undefined;
    const started = messages.flatMap(({ kind, body }, index) => {
      if (kind !== "message" || arrived.messages[index] === "duplicate") return [];
      const event = { source: "webhook", topic: path, payload: JSON.stringify(body) } as const;
      return [sops.dispatchIn(event, { by: `webhook ${path}` })];
    });
    return () => started.forEach((pending) => pending.committed());
  };
}

/**
 * The same for messages that a channel hands over itself, as one does that is only told that there are some: they belong to
 * its path, if it has exactly one.
 */
export function receivedEvents(
  sops: Dispatch,
  ingress: readonly RegisteredIngress[],
  channel: string,
): InTransaction | undefined {
  const [registered, ...others] = ingress.filter((one) => one.channel === channel);
  return registered && others.length === 0 ? messageEvents(sops, registered.ingress.path) : undefined;
}

// Requests as events that start procedures: once each, however often they are sent.

export interface RequestEventsDeps {
  readonly sops: Pick<Sops, "dispatchIn">;
  readonly store: {
    readonly idempotency: Pick<Store["idempotency"], "claim" | "keep" | "release">;
    /** Runs `change` in a transaction, maybe twice; resolves once it is on disk. Rejects with STORE_*. */
    write<T>(change: () => T): Promise<T>;
  };
}

export class RequestEvents {
  readonly #deps: RequestEventsDeps;

  constructor(deps: RequestEventsDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves once the runs and the claim are on disk, in one transaction: a kill between them would either lose the runs or
   * have them start again. Rejects with STORE_*, and then the request may come again.
   */
  async start(
    path: string,
    body: Buffer,
    caller: Caller,
    claim: IdempotencyClaim | undefined,
  ): Promise<Dispatched | "duplicate"> {
    const { sops, store } = this.#deps;
    const { idempotency } = store;
    if (claim && idempotency.claim(claim) === "duplicate") return "duplicate";
    try {
      const event = { source: "webhook", topic: path, payload: body.toString("utf8") } as const;
      const pending = await store.write(() => {
        const started = sops.dispatchIn(event, { by: starterOf(path, caller) });
        if (claim) idempotency.keep(claim, started.result.runs[0]?.runId ?? "none", "done");
        return started;
      });
      pending.committed();
      return pending.result;
    } finally {
      if (claim) idempotency.release(claim);
    }
  }
}

/** For a person. */
const starterOf = (path: string, { device }: Caller): string =>
  device ? `webhook ${path}, device ${device.name}` : `webhook ${path}`;
