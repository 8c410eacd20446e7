/** When the daemon is killed: at something that happens, so that every part of the way of a message is hit, and then at random. */

/**
 * `posted`: a delivery leaves the platform. `asked`: the model is. `sending`: an answer reaches the platform. `editing`: more of
 * it does. `polled`: a platform is asked for what there is.
 */
export type Happening = "posted" | "asked" | "sending" | "editing" | "polled";

export type Kill =
  /** At the so many-th of these in the daemon's life, or a little later. */
  | { readonly at: Happening; readonly count: number; readonly delayMs: number; readonly released: number }
  /** So long after it was started, whether it listens by then or not; in shares of how long a start takes. */
  | { readonly at: "start"; readonly share: number; readonly released: number };

/** What comes of a happening takes about so long: the turn, the commit, the answer's way back. */
const LONGEST_DELAY_MS = 20;
const AT_START = 0.2;
/** A start that is killed when it is over is one that has begun to work off what the last life left. */
const LONGEST_SHARE = 1.3;
/** As often as they are named. */
const HAPPENINGS: readonly Happening[] = ["posted", "asked", "asked", "sending", "sending"];

/** `posts`: how many there are in all; `released` of them may be begun in the life that the kill ends. */
export function killsOf(
  count: number,
  posts: number,
  random: () => number,
  happenings: readonly Happening[] = HAPPENINGS,
): Kill[] {
  return Array.from({ length: count }, (_, index) => {
    const released = Math.ceil(((index + 1) * posts) / count);
    // Before the first kill the daemon has to have been there.
    if (index > 0 && random() < AT_START) return { at: "start", share: random() * LONGEST_SHARE, released };
    const at = happenings[Math.floor(random() * happenings.length)]!;
    // Now and then at the very instant.
    const delayMs = Math.max(0, Math.floor(random() * LONGEST_DELAY_MS * 1.25 - LONGEST_DELAY_MS * 0.25));
    // More than a life's share, for the lives that are killed before they have done anything: what is left over must not
    // pile up until the last one.
    const most = (posts / count) * (at === "posted" ? 1 : 3);
    return { at, count: 1 + Math.floor(random() * most), delayMs, released };
  });
}
