/** Keeps the end of a conversation in sight, unless the reader went up to read. */
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** So near, the reader is at the end. */
const NEAR_PX = 96;

export interface Follow {
  /** The reader is further up. */
  readonly isAway: boolean;
  toEnd(): void;
}

/**
 * @param first What the list begins with: when it changes, older messages came above and the reader stays.
 * @param startsAway The reader was led to an older message.
 */
export function useFollow(first: string | undefined, startsAway = false): Follow {
  const isFollowing = useRef(!startsAway);
  const [isAway, setAway] = useState(false);
  const toEnd = (): void => {
    isFollowing.current = true;
    setAway(false);
    scrollToEnd();
  };
  useEffect(() => {
    let seenHeight = document.documentElement.scrollHeight;
    const look = (): void => {
      const page = document.documentElement;
      // A list that grew moves the end away from a reader who did not move.
      if (page.scrollHeight !== seenHeight && isFollowing.current) {
        seenHeight = page.scrollHeight;
        return scrollToEnd();
      }
      seenHeight = page.scrollHeight;
      isFollowing.current = isAtEnd();
      setAway(!isFollowing.current);
    };
    const grow = new ResizeObserver(() => {
      seenHeight = document.documentElement.scrollHeight;
      if (isFollowing.current) scrollToEnd();
      else setAway(!isAtEnd());
    });
    // Messages, approvals and the message box: each can grow and move the end.
    const main = document.getElementById("main");
    for (const one of [document.body, main]) if (one) grow.observe(one);
    window.addEventListener("scroll", look, { passive: true });
    return () => {
      grow.disconnect();
      window.removeEventListener("scroll", look);
    };
  }, []);
  const height = useRef(0);
  useLayoutEffect(() => {
    const page = document.documentElement;
    if (first !== undefined && height.current > 0 && !isFollowing.current) {
      page.scrollTop += page.scrollHeight - height.current;
    }
  }, [first]);
  useLayoutEffect(() => {
    // It is laid out for this: not at each piece of an answer that is followed.
    if (!isFollowing.current) height.current = document.documentElement.scrollHeight;
  });
  return { isAway, toEnd };
}

function scrollToEnd(): void {
  const page = document.documentElement;
  page.scrollTop = page.scrollHeight;
}

function isAtEnd(): boolean {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement;
  return scrollHeight - clientHeight - scrollTop < NEAR_PX;
}
