/** "Did you mean": the nearest of what is allowed, or nothing when all of it is far off. */

/** The library is loaded by the first mistake only. */
export async function nearest(wrong: string, allowed: readonly string[]): Promise<string | undefined> {
  if (wrong.length > 100) return undefined;
  const { distance } = (await import("fastest-levenshtein")).default;
  const lower = wrong.toLowerCase();
  let best: string | undefined;
  // Two letters swapped are two edits, so four letters must allow for two.
  let least = Math.min(3, Math.ceil(wrong.length / 2)) + 1;
  for (const candidate of allowed) {
    const edits = distance(lower, candidate.toLowerCase());
    if (edits < least && edits < candidate.length) [best, least] = [candidate, edits];
  }
  if (best !== undefined || wrong.length < 3) return best;
  const longer = allowed.filter((candidate) => candidate.toLowerCase().startsWith(lower));
  return longer.length === 1 ? longer[0] : undefined;
}
