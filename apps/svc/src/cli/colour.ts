/** Colour for people: at a terminal alone, and never where NO_COLOR is set. */

// Not by `import`: that reads every export of node:util.
const { styleText } = process.getBuiltinModule("node:util");

type Style = Parameters<typeof styleText>[0];

/** FORCE_COLOR, NO_COLOR and NODE_DISABLE_COLORS count as they do for Node itself; so does whether the output is a terminal. */
export const tint = (style: Style, text: string): string => styleText(style, text, { stream: process.stdout });

const STYLES: readonly (readonly [words: RegExp, style: Style])[] = [
  [/^(?:failed|broken|dead|down|rejected|wrong)\b/, "red"],
  [/^(?:waiting|pending|degraded|reconnecting|expired)\b/, "yellow"],
  [/^(?:running|ok|completed|approved|sent|done|connected)\b/, "green"],
  [/^(?:cancelled|off|disabled|never)\b/, "dim"],
];

/** A state by its first word. */
export function tintState(text: string): string {
  const style = STYLES.find(([words]) => words.test(text.trimStart()))?.[1];
  return style === undefined ? text : tint(style, text);
}
