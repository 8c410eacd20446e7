/** At most `maxChars` UTF-16 units of a text, and where something is missing an ellipsis. Never half of a surrogate pair. */
export function shortened(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const isInPair = /[\uD800-\uDBFF]/.test(text.charAt(maxChars - 2));
  return `${text.slice(0, maxChars - (isInPair ? 2 : 1)).trimEnd()}…`;
}
