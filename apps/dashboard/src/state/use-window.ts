/** The browser window: its width, time, and where the user types. */
import { useEffect, useState } from "preact/hooks";

/** Whether a media query matches now. */
function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => window.matchMedia(query).matches);
  useEffect(() => {
    const list = window.matchMedia(query);
    const follow = (): void => setMatches(list.matches);
    follow();
    list.addEventListener("change", follow);
    return () => list.removeEventListener("change", follow);
  }, [query]);
  return matches;
}

/** On a phone a list and its detail are two screens. The style sheets use the same width. */
export const usePhone = (): boolean => useMedia("(width < 48rem)");

/** Calls back at an interval while the page is visible. */
export function useTick(everyMs: number, tick: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => {
      if (document.visibilityState === "visible") tick();
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
}

/** Whether a key press is text for a field, not a shortcut. */
export const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || /^(?:INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
