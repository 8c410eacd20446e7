/**
 * Which call was placed for which delivery. The platform takes no idempotency key: what is not known here would ring a phone
 * twice, when an answer is lost and when the process dies between the call and our note of its end.
 */
import type { FeatureContext } from "@svc/contract";
import { parseJson } from "@svc/kit";

export interface Placed {
  /** When it was about to be placed, milliseconds since the epoch. */
  readonly atMs: number;
  /** Undefined: nobody knows whether it was. */
  readonly sid?: string;
}

export interface PlacedCalls {
  of(deliveryId: string): Promise<Placed | undefined>;
  /** Resolves once it is on disk; rejects with STORE_*: then no call may be placed. */
  note(deliveryId: string, placed: Placed): Promise<void>;
  /** Nothing was placed. */
  forget(deliveryId: string): Promise<void>;
  /** Whether it is the call of some delivery. */
  hasCall(sid: string): boolean;
}

/** Outlives whatever is tried again. */
const MOST = 1_000;
const NAME = "placed-calls";

export function placedCalls({ state }: Pick<FeatureContext, "state">): PlacedCalls {
  let loading: Promise<Map<string, Placed>> | undefined;
  let known: Map<string, Placed> = new Map();
  const load = (): Promise<Map<string, Placed>> =>
    (loading ??= state.get(NAME).then(
      (text) => (known = callsOf(text)),
      (error: unknown) => {
        // What could not be read now may be read by the next try.
        loading = undefined;
        throw error;
      },
    ));
  const keep = (): Promise<void> => state.set(NAME, JSON.stringify([...known]));
  return {
    of: async (deliveryId) => (await load()).get(deliveryId),
    async note(deliveryId, placed) {
      await load();
      known.delete(deliveryId);
      known.set(deliveryId, placed);
      for (const oldest of known.keys()) if (known.size > MOST) known.delete(oldest);
      await keep();
    },
    async forget(deliveryId) {
      await load();
      if (known.delete(deliveryId)) await keep();
    },
    hasCall: (sid) => [...known.values()].some((placed) => placed.sid === sid),
  };
}

function callsOf(text: string | undefined): Map<string, Placed> {
  const list = text === undefined ? [] : parseJson(Buffer.from(text));
  return new Map((Array.isArray(list) ? list : []) as unknown as [string, Placed][]);
}
