/** What the process that checks tells the one that waits for it: lines of JSON on standard output. */
import { type Finding, warning } from "./finding.ts";

export type Progress =
  | { readonly type: "checks"; readonly ids: readonly string[] }
  | { readonly type: "done"; readonly id: string; readonly findings: readonly Finding[] };

export const unchecked = (id: string): Finding =>
  warning(
    id,
    "This could not be checked in time.",
    "svc doctor once more; if it stays so, look at the disk and the load",
  );
