/** Keeping what the service knows. */
import type { CommandEntry } from "../command.ts";

export const data: readonly CommandEntry[] = [];
