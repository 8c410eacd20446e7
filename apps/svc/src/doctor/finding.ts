/** What `svc doctor` found: one thing, how bad it is, and what fixes it. */
export const LEVELS = ["ok", "note", "warning", "error"] as const;

/** `note`: open, perhaps on purpose. Only `svc doctor --security` has them. */
export type FindingLevel = (typeof LEVELS)[number];

export interface Finding {
  /** Stable: scripts look for it. Several findings may have one. */
  readonly id: string;
  readonly level: FindingLevel;
  /** A sentence for a person; never a secret. */
  readonly message: string;
  /** The command to type or the key to change. Only of what is not ok. */
  readonly fix?: string;
}

export const ok = (id: string, message: string): Finding => ({ id, level: "ok", message });

export const note = (id: string, message: string, fix: string): Finding => ({ id, level: "note", message, fix });

export const warning = (id: string, message: string, fix: string): Finding => ({ id, level: "warning", message, fix });

export const error = (id: string, message: string, fix: string): Finding => ({ id, level: "error", message, fix });

/** Of what came from another process, perhaps of another version, only what is a finding. */
export function findingsIn(value: unknown): Finding[] {
  return Array.isArray(value) ? value.filter(isFinding) : [];
}

function isFinding(value: unknown): value is Finding {
  const { id, level, message, fix } = (value ?? {}) as Partial<Record<keyof Finding, unknown>>;
  const texts = typeof id === "string" && typeof message === "string" && (fix === undefined || typeof fix === "string");
  return texts && LEVELS.some((known) => known === level);
}

/** What the process that checks tells the one that waits for it: lines of JSON on standard output. */
export type Progress =
  | { readonly type: "checks"; readonly ids: readonly string[] }
  | { readonly type: "done"; readonly id: string; readonly findings: readonly Finding[] };

export const unchecked = (id: string): Finding =>
  warning(
    id,
    "This could not be checked in time.",
    "svc doctor once more; if it stays so, look at the disk and the load",
  );
