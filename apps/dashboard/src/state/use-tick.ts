import { useEffect } from "preact/hooks";

/** Calls back now and then while somebody looks. */
export function useTick(everyMs: number, tick: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") tick();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
