/** How values are written in JSON. */
import type { Json } from "@svc/contract";

/** Milliseconds since the epoch as ISO 8601. */
export const instant = (ms: number): string => new Date(ms).toISOString();
export const instantOrNull = (ms: number | undefined): string | null => (ms === undefined ? null : instant(ms));
export const orNull = <T extends Json>(value: T | undefined): T | null => value ?? null;
