/** The service's inbox as a channel meets it: what is on disk stays there, whichever process wrote it. */
import { type ErrorCode, type FeatureContext, type Inbound, SvcError } from "@svc/contract";

export interface ArrivalInbox {
  readonly receive: FeatureContext["receive"];
  /** On disk, oldest first; without those whose id was seen before. */
  readonly kept: readonly Inbound[];
  /** How often it was handed something. */
  readonly offers: number;
  /** Each of the next offers is refused with one of these. */
  refuse(...codes: readonly ErrorCode[]): void;
  /** No offer is answered any more. The function that it returns refuses them all: the process that made them is gone. */
  hold(): () => void;
}

export function arrivalInbox(): ArrivalInbox {
  const kept: Inbound[] = [];
  const refusals: ErrorCode[] = [];
  const ids = new Set<string>();
  let held: Promise<never> | undefined;
  let offers = 0;
  return {
    kept,
    get offers() {
      return offers;
    },
    refuse: (...codes) => void refusals.push(...codes),
    hold() {
      const { promise, reject } = Promise.withResolvers<never>();
      promise.catch(() => undefined);
      held = promise;
      return () => {
        held = undefined;
        reject(new SvcError("STORE_FAILED"));
      };
    },
    async receive(messages) {
      offers += 1;
      await held;
      const refusal = refusals.shift();
      if (refusal !== undefined) throw new SvcError(refusal);
      return messages.map((message) => {
        if (message.id !== undefined && ids.has(message.id)) return "duplicate";
        if (message.id !== undefined) ids.add(message.id);
        // As JSON, since a channel may go on using what it handed over.
        kept.push(JSON.parse(JSON.stringify(message)) as Inbound);
        return "kept";
      });
    },
  };
}
