// "Did you mean": the nearest known name, before any package is installed.

/**
 * @param {string} given
 * @param {readonly string[]} known
 * @returns {string | undefined} undefined when nothing is near enough to be a typing mistake
 */
export function closest(given, known) {
  const ranked = known
    .map((name) => ({ name, edits: editDistance(given.toLowerCase(), name) }))
    .sort((a, b) => a.edits - b.edits);
  const [best] = ranked;
  return best && best.edits <= Math.max(2, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/**
 * Levenshtein's distance.
 * @param {string} from
 * @param {string} to
 */
function editDistance(from, to) {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
