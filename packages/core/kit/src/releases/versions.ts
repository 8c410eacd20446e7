/** The order of versions as semver.org has it, without build metadata. */

/** Negative: `a` is older than `b`. */
export function compareVersions(a: string, b: string): number {
  const [coreA, preA] = split(a);
  const [coreB, preB] = split(b);
  return (
    compareLists(coreA, coreB) || Number(preA.length === 0) - Number(preB.length === 0) || compareLists(preA, preB)
  );
}

function split(version: string): [core: string[], pre: string[]] {
  const dash = version.indexOf("-");
  if (dash === -1) return [version.split("."), []];
  return [version.slice(0, dash).split("."), version.slice(dash + 1).split(".")];
}

function compareLists(a: readonly string[], b: readonly string[]): number {
  for (let index = 0; index < Math.min(a.length, b.length); index += 1) {
    const order = compareParts(a[index]!, b[index]!);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

function compareParts(a: string, b: string): number {
  const [isNumberA, isNumberB] = [/^\d+$/.test(a), /^\d+$/.test(b)];
  if (isNumberA && isNumberB) return Number(a) - Number(b);
  // Numbers come before words.
  if (isNumberA !== isNumberB) return isNumberA ? -1 : 1;
  return a < b ? -1 : Number(a > b);
}
