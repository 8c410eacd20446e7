/** The results of `work` for each item, in their order; a few at a time, as each may hold a file open. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  most: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const rest = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: Math.min(most, items.length) }, worker));
  return results;
}

/** Folders of procedures that are read at the same time. */
export const AT_A_TIME = 32;
