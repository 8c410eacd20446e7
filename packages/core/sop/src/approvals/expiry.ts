/** Nobody has to answer, and nothing waits for ever: when its time is over, it is over, and somebody should know. */
import { inScope } from "@svc/kernel";
import type { Approval } from "@svc/store";
import type { ApprovalOptions } from "./options.ts";
import type { Settler } from "./settler.ts";
import type { Pending } from "./types.ts";

/** The wall clock may be set while a timer runs. */
const LOOK_AGAIN_MS = 30_000;
/** Ended in one go. */
const STEP = 50;

export class Expiry {
  readonly #options: Pick<ApprovalOptions, "store" | "clock" | "log">;
  readonly #settler: Settler;
  #isRunning = false;
  #isSweeping = false;
  #cancel: (() => void) | undefined;

  constructor(options: Pick<ApprovalOptions, "store" | "clock" | "log">, settler: Settler) {
    this.#options = options;
    this.#settler = settler;
  }

  start(): void {
    this.#isRunning = true;
    this.look();
  }

  stop(): void {
    this.#isRunning = false;
    this.#cancel?.();
  }

  /** There is a new one, or the clock says something else. */
  look(): void {
    if (!this.#isRunning || this.#isSweeping) return;
    const { store, clock } = this.#options;
    this.#cancel?.();
    const nextMs = store.approvals.nextExpiryMs();
    if (nextMs === Infinity) return;
    // Whoever asked last has made the timer; it is for all of them.
    const sweep = (): void => void inScope({}, () => this.#sweep());
    this.#cancel = clock.after(Math.min(Math.max(0, nextMs - clock.now()), LOOK_AGAIN_MS), sweep);
  }

  /** Inside a transaction. Undefined: it waits no longer. */
  expireIn({ n, origin, runId, stepId }: Approval): Pending<Approval> | undefined {
    const pending = this.#settler.settleIn(n, { status: "expired", by: "no answer in time", via: "service" });
    if (!pending) return undefined;
    const told = (): void => this.#options.log.warn("approval request expired", { approval: n, origin, runId, stepId });
    return {
      result: pending.result,
      committed: () => {
        pending.committed();
        told();
      },
    };
  }

  /** Never rejects: what the disk refused is tried again. */
  async #sweep(): Promise<void> {
    const { clock, log } = this.#options;
    this.#isSweeping = true;
    const failure = await this.#endDue().catch(String);
    this.#isSweeping = false;
    if (failure === undefined) return this.look();
    log.error("the end of an approval request can't be kept yet", { error: failure });
    if (this.#isRunning) this.#cancel = clock.after(LOOK_AGAIN_MS, () => void this.#sweep());
  }

  /** Each on its own, so that one that can't be ended does not keep the others. Resolves with why one was not. */
  async #endDue(): Promise<string | undefined> {
    const { store, clock } = this.#options;
    const ended = await Promise.allSettled(
      store.approvals.due(clock.now(), STEP).map(async (approval) => {
        const pending = await store.write(() => this.expireIn(approval));
        pending?.committed();
      }),
    );
    const failed = ended.find((end) => end.status === "rejected");
    return failed && String(failed.reason);
  }
}
