/** In the order of time: what is kept by turn stands together on disk, where random ids would be strewn all over it. */
import { randomUUIDv7 } from "node:crypto";

export const newTurnId = (): string => `t-${randomUUIDv7()}`;
