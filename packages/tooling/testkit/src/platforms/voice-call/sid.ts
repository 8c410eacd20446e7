import { randomBytes } from "node:crypto";

/** An id as the platform makes them: what it is of in two letters, and 32 hexadecimal digits. */
export const sidOf = (kind: "CA" | "PN" | "RE"): string => kind + randomBytes(16).toString("hex");
