import type { Contributions } from "@svc/contract";

export const create = (): Contributions => ({});
