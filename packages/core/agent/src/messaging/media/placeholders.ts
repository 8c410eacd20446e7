/** Puts into a text what stands for each of its files. */

export interface Placed {
  readonly placeholder: string;
  /** What comes in its place. */
  readonly text: string;
}

/** One after the other, so that what was put in is not looked at again; what has no place in the text comes behind it. */
export function withMedia(text: string, media: readonly Placed[]): string {
  let done = "";
  let rest = text;
  const behind: string[] = [];
  for (const { placeholder, text: placed } of media) {
    const at = placeholder === "" ? -1 : rest.indexOf(placeholder);
    if (at === -1) {
      behind.push(placed);
      continue;
    }
    done += rest.slice(0, at) + placed;
    rest = rest.slice(at + placeholder.length);
  }
  return [done + rest, ...behind].filter((part) => part.trim() !== "").join("\n");
}
