// How like two texts are: words that both have in the same order.

/** Without what only shows: marks of direction, ligatures, soft hyphens. */
export const wordsOf = (text: string): string[] =>
  text
    .normalize("NFKC")
    .replace(/[\u00AD\u200E\u200F\u202A-\u202E]/g, "")
    .split(/\s+/)
    .filter((word) => word !== "");

/** 1: the same words in the same order; 0: none. Twice the longest common subsequence, of all words of both. */
export function similarity(one: readonly string[], other: readonly string[]): number {
  if (one.length + other.length === 0) return 1;
  let before = new Uint32Array(other.length + 1);
  for (const word of one) {
    const now = new Uint32Array(other.length + 1);
    for (const [at, each] of other.entries()) {
      now[at + 1] = word === each ? before[at]! + 1 : Math.max(before[at + 1]!, now[at]!);
    }
    before = now;
  }
  return (2 * before[other.length]!) / (one.length + other.length);
}
