/** Tells of each name once, and of so many at most: senders are made up in no time. */
export function toldOnce(tell: (name: string) => void): (name: string) => void {
  const told = new Set<string>();
  return (name) => {
    if (told.has(name) || told.size >= MAX) return;
    told.add(name);
    tell(name);
  };
}

const MAX = 1000;
