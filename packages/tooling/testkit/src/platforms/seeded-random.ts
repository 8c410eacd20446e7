/** Numbers from 0 up to 1 that look random and are the same in every run (mulberry32): what failed can be run again. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A copy in another order, in which nothing is further than `window` places from where it was. */
export function shuffled<T>(list: readonly T[], window: number, random: () => number): T[] {
  const placed = list.map((item, index) => ({ item, place: index + random() * window }));
  return placed.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
}
