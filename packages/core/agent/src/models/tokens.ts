/**
 * About four characters a token: good enough to bound history. For money only where the provider counts nothing, so that a
 * limit holds all the same; never for a cost that is shown.
 */
export const estimateTokens = (text: string): number => tokensIn(text.length);

export const tokensIn = (chars: number): number => Math.ceil(chars / 4);
