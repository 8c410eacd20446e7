/**
 * The parts of a multi-request message that the platform has already accepted. A retry continues where the last try stopped,
 * in the next process too, so that the reader does not get the beginning twice.
 */
import type { FeatureContext } from "@svc/contract";
import { parseJson } from "./json.ts";

export interface SentParts {
  has(part: string): boolean;
  /** The platform's id of the first part that has one. */
  readonly platformId: string | undefined;
  /** Resolves once it is on disk. A full disk is no error: it is known at least as long as this process lives. */
  add(part: string, platformId: string | undefined): Promise<void>;
  /** All of it was taken. */
  end(): void;
}

/** Resolves with the stored state of a delivery. */
export type SentPartsOf = (deliveryId: string) => Promise<SentParts>;

interface Sent {
  readonly parts: readonly string[];
  readonly platformId?: string;
}

/** Who is forgotten is sent anew as a whole, which takes a thousand half deliveries that were given up. */
const MOST = 1000;
/** One text for all of them: there are few, and their ids say nothing of their age. */
const NAME = "sent-parts";

export function sentPartsIn({ state }: Pick<FeatureContext, "state">): SentPartsOf {
  let loading: Promise<Map<string, Sent>> | undefined;
  const load = (): Promise<Map<string, Sent>> =>
    (loading ??= state.get(NAME).then(deliveriesOf, (error: unknown) => {
      // What could not be read now may be read by the next try.
      loading = undefined;
      throw error;
    }));
  return async (deliveryId) => {
    const all = await load();
    const sent = (): Sent => all.get(deliveryId) ?? { parts: [] };
    const keep = (): Promise<void> => state.set(NAME, JSON.stringify([...all])).catch(() => undefined);
    return {
      has: (part) => sent().parts.includes(part),
      get platformId() {
        return sent().platformId;
      },
      async add(part, id) {
        const { parts, platformId = id } = sent();
        all.set(deliveryId, { parts: [...parts, part], ...(platformId !== undefined && { platformId }) });
        for (const oldest of all.keys()) if (all.size > MOST) all.delete(oldest);
        await keep();
      },
      end() {
        // Not waited for: the end of the delivery goes to disk right after it.
        if (all.delete(deliveryId)) void keep();
      },
    };
  };
}

function deliveriesOf(text: string | undefined): Map<string, Sent> {
  const list = text === undefined ? [] : parseJson(Buffer.from(text));
  return new Map((Array.isArray(list) ? list : []) as unknown as [string, Sent][]);
}
