/** Tells observers what happens; none of them can disturb the others or the one who tells. */
import type { SvcEvent } from "@svc/contract";
import type { RegisteredObserver } from "../registry/registry.ts";

export function tellObservers(
  observers: readonly RegisteredObserver[],
  event: SvcEvent,
  threw: (feature: string, error: unknown) => void,
): void {
  for (const { feature, observer } of observers) {
    try {
      const told: unknown = observer.record(event);
      // An observer that is async against its contract must not end the process by a rejection.
      if (told instanceof Promise) told.catch((error: unknown) => threw(feature, error));
    } catch (error) {
      threw(feature, error);
    }
  }
}
