import type { Inline } from "./tree.ts";

/** What people read of it, without the formatting. */
export const plainOf = (inlines: readonly Inline[]): string =>
  inlines
    .map((inline) => {
      if (inline.kind === "break") return "\n";
      return "text" in inline ? inline.text : plainOf(inline.children);
    })
    .join("");
