/** What the hash of a line of the audit log is made of. */
import { createHash } from "node:crypto";
import type { Json } from "@svc/contract";

export interface AuditLine {
  readonly n: number;
  readonly atMs: number;
  readonly kind: string;
  /** Canonical JSON. */
  readonly data: string;
}

/** The last line there is. */
export interface AuditHead {
  readonly n: number;
  readonly hash: string;
}

/** What the first line follows. */
export const NO_LINE: AuditHead = { n: 0, hash: "0".repeat(64) };

/** Hex SHA-256 over the hash before and the canonical JSON of the line. */
export function auditHash(before: string, { n, atMs, kind, data }: AuditLine): string {
  const line = `{"at":${atMs},"data":${data},"kind":${JSON.stringify(kind)},"n":${n}}`;
  return createHash("sha256").update(before).update(line).digest("hex");
}

/** One text for one value: keys in order, no spaces. */
export function canonicalJson(value: Json): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map((item: Json) => canonicalJson(item)).join(",")}]`;
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

export const headText = ({ n, hash }: AuditHead): string => `${n} ${hash}`;

export function headOf(text: string | null): AuditHead | undefined {
  const parts = /^(\d{1,15}) ([0-9a-f]{64})$/.exec(text ?? "");
  return parts ? { n: Number(parts[1]), hash: parts[2]! } : undefined;
}
