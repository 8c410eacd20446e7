import { join } from "node:path";

/** As `context.child("sandbox-exec")` answers in the service. */
export const childCommand: readonly [string, ...string[]] = [
  process.execPath,
  join(import.meta.dirname, "child-process.ts"),
];
