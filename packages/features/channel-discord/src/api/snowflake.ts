/**
 * Ids of the platform: 64 bits as decimal text, in the order of time.
 * https://docs.discord.com/developers/reference#snowflakes
 */

/** Undefined for what is no id: it would become a part of a path, or name a conversation that nobody can answer. */
export const idOf = (value: unknown): string | undefined =>
  typeof value === "string" && /^[1-9]\d{0,19}$/.test(value) ? value : undefined;

/** Milliseconds since the epoch. */
export const timeOfId = (id: string): number => Number(BigInt(id) >> TIME_SHIFT) + EPOCH_MS;

/** The least id of that time. */
export const idAt = (epochMs: number): string =>
  String(BigInt(Math.max(1, Math.floor(epochMs) - EPOCH_MS)) << TIME_SHIFT);

export const isLater = (id: string, than: string): boolean =>
  id.length === than.length ? id > than : id.length > than.length;

export const laterOf = (one: string, other: string): string => (isLater(other, one) ? other : one);

const EPOCH_MS = 1_420_070_400_000;
const TIME_SHIFT = 22n;
