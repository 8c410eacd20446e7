import { useEffect } from "preact/hooks";

/** Calls back at an interval while the page is visible. */
export function useTick(everyMs: number, tick: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") tick();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}
