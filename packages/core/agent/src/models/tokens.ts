/** About four characters a token: good enough to bound history, never used for money. */
export function estimateTokens(text: string): number {
  return Math.ceil(text.length / 4);
}
