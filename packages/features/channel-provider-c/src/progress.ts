/** What of a delivery the platform has taken: the text, then file after file, each a request of its own. */
export interface Progress {
  /** Runs the steps that were not taken yet, in order. What one throws ends it; the next time goes on from there. */
  run<Result>(deliveryId: string, steps: readonly (() => Promise<Result>)[]): Promise<Result | undefined>;
}

/**
 * In memory only: a text is not sent twice because its file failed. Who is killed in between repeats the text, as there
 * is no idempotency key.
 */
export function createProgress(maxDeliveries = 1000): Progress {
  const taken = new Map<string, number>();
  return {
    async run(deliveryId, steps) {
      let last;
      for (let step = taken.get(deliveryId) ?? 0; step < steps.length; step += 1) {
        last = await steps[step]!();
        taken.delete(deliveryId);
        if (step + 1 < steps.length) taken.set(deliveryId, step + 1);
        // The oldest is one that was given up.
        for (const oldest of taken.keys()) if (taken.size > maxDeliveries) taken.delete(oldest);
      }
      return last;
    },
  };
}
