/** Who pulled a file in: the shortest chain of imports from the entry to it. */
import type { Metafile } from "esbuild";

/** @param lazily Whether `import()` counts as a link of the chain. */
export function importChain(metafile: Metafile, input: string, lazily: boolean): string[] {
  const entry = Object.values(metafile.outputs).find(({ entryPoint }) => entryPoint?.endsWith("/entry.ts"))?.entryPoint;
  if (entry === undefined) return [input];
  const from = new Map<string, string | undefined>([[entry, undefined]]);
  for (const current of from.keys()) {
    if (current === input) break;
    for (const { path, kind, external } of metafile.inputs[current]?.imports ?? []) {
      if (external === true || from.has(path) || (!lazily && kind === "dynamic-import")) continue;
      from.set(path, current);
    }
  }
  if (!from.has(input)) return [input];
  const chain: string[] = [];
  for (let step: string | undefined = input; step !== undefined; step = from.get(step)) chain.unshift(step);
  return chain;
}
