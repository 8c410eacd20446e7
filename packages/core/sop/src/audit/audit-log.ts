/** The audit log as the rest of the house sees it: what is put into it is short, and holds no secret. */
import type { Json } from "@svc/contract";
import type { Store } from "@svc/store";
import type { AuditLog } from "../runs/types.ts";

export interface AuditLogOptions {
  readonly store: Pick<Store, "audit">;
  /** Takes the configured secrets out. */
  readonly redact: (text: string) => string;
}

/** Longest text in a line; nothing of it is ever deleted. */
const MAX_TEXT_CHARS = 1_000;
/** Most values of a list or an object, and how deep they lie in one another. */
const MAX_MEMBERS = 50;
const MAX_DEPTH = 4;

export function createAuditLog({ store, redact }: AuditLogOptions): AuditLog {
  return {
    list(limit, before) {
      const entries = store.audit.list(limit + 1, before);
      const shown = entries.slice(0, limit);
      return { entries: shown, next: entries.length > limit ? shown.at(-1)!.n : undefined };
    },
    async verify() {
      const { entries, brokenAt } = await store.audit.verify();
      return { entries, brokenAt };
    },
    add: (kind, data) => store.audit.add(kind, told(data, redact, 0)),
  };
}

function told(value: Json, redact: (text: string) => string, depth: number): Json {
  if (typeof value === "string") return cut(redact(value));
  if (typeof value !== "object" || value === null) return value;
  if (depth === MAX_DEPTH) return "[…]";
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((item: Json) => told(item, redact, depth + 1));
  const members = Object.entries(value).slice(0, MAX_MEMBERS);
  return Object.fromEntries(members.map(([key, member]) => [cut(redact(key)), told(member, redact, depth + 1)]));
}

const cut = (text: string): string => {
  const whole = text.toWellFormed();
  return whole.length <= MAX_TEXT_CHARS ? whole : `${whole.slice(0, MAX_TEXT_CHARS).toWellFormed()}…`;
};
