/** Requests as events that start procedures: once each, however often they are sent. */
import type { Logger } from "@svc/contract";
import type { Dispatched, Sops } from "@svc/sop";
import type { IdempotencyClaim } from "@svc/store";
import type { GatewayStore } from "../types.ts";
import type { Caller } from "../webhook/layers.ts";

export interface RequestEventsDeps {
  readonly sops: Pick<Sops, "hasPath" | "dispatchIn">;
  readonly store: Pick<GatewayStore, "idempotency" | "write">;
  readonly log: Logger;
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

  /**
   * The same for a request that is answered by something else, which does not wait for it. Never rejects. `claim` is settled
   * by that: a turn that failed lets it go, and then the request that comes again must not start the runs again.
   */
  async beside(path: string, body: Buffer, caller: Caller, claim: IdempotencyClaim | undefined): Promise<void> {
    const { sops, log } = this.#deps;
    try {
      if (sops.hasPath(path)) await this.start(path, body, caller, claim && besideOf(claim));
    } catch (error) {
      const cause = error instanceof Error ? error.message : "unknown";
      log.error("a request started no procedure: something unexpected went wrong", { path, cause });
    }
  }
}

/** Keys of senders have no blanks: it is none of theirs. */
const besideOf = ({ key, also, ...rest }: IdempotencyClaim): IdempotencyClaim => ({
  ...rest,
  key: `beside ${key}`,
  ...(also !== undefined && { also: `beside ${also}` }),
});

/** For a person. */
const starterOf = (path: string, { device }: Caller): string =>
  device ? `webhook ${path}, device ${device.name}` : `webhook ${path}`;
