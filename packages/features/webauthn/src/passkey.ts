/** One passkey: what is kept of it, sealed, and what is told. */
import { type ClientId, type Json, SvcError } from "@svc/contract";
import * as v from "valibot";

const RECORD = v.object({
  /** The credential's id, as the browser tells it. */
  id: v.string(),
  userId: v.string(),
  userName: v.string(),
  /** What the authenticator keeps as `user.id`, in base64url. Random: it says nothing of the person. */
  handle: v.string(),
  name: v.string(),
  /** COSE, in base64url. */
  publicKey: v.string(),
  /** As of the last use; 0 always, where the authenticator does not count. */
  counter: v.number(),
  transports: v.array(v.string()),
  /** It may be copied to other devices of the person (backup eligible). */
  canSync: v.boolean(),
  /** It was (backup state). */
  isSynced: v.boolean(),
  createdAtMs: v.number(),
  lastUsedAtMs: v.nullable(v.number()),
  /** When its counter went back. From then on it is refused. */
  suspectSinceMs: v.nullable(v.number()),
});

export interface Passkey extends Readonly<v.InferOutput<typeof RECORD>> {
  /** The device that it belongs to, and that it signs in as. It is kept among that one's own secrets, which says it. */
  readonly owner: ClientId;
}

export const written = (passkey: Passkey): string => JSON.stringify(passkey, Object.keys(RECORD.entries));

/** Throws SECRET_UNREADABLE. */
export function read(text: string, owner: ClientId): Passkey {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson(), RECORD), text);
  if (parsed.success) return { ...parsed.output, owner };
  throw new SvcError("SECRET_UNREADABLE", "What is kept of a passkey can't be read.");
}

/** For the log: enough of the id to find it in a list. */
export const briefly = ({ id }: Pick<Passkey, "id">): string => id.slice(0, 12);

export const isUsable = ({ suspectSinceMs }: Passkey): boolean => suspectSinceMs === null;

export const PASSKEY = v.object({
  id: v.pipe(v.string(), v.description("The credential's id, as the browser tells it.")),
  user_id: v.string(),
  user_name: v.string(),
  name: v.string(),
  created_at: v.pipe(v.string(), v.description("UTC, ISO 8601.")),
  last_used_at: v.nullable(v.pipe(v.string(), v.description("UTC, ISO 8601; null: never."))),
  transports: v.pipe(v.array(v.string()), v.description("How the browser reaches it, as it told.")),
  can_sync: v.pipe(v.boolean(), v.description("It may be copied to other devices of the person.")),
  is_synced: v.pipe(v.boolean(), v.description("It was.")),
  suspect: v.pipe(
    v.boolean(),
    v.description("Its counter went back, as that of a copy does: it is refused until it is removed."),
  ),
});

/** The public key, the handle and the ClientId stay inside. */
export const shown = (passkey: Passkey): { readonly [key: string]: Json } => ({
  id: passkey.id,
  user_id: passkey.userId,
  user_name: passkey.userName,
  name: passkey.name,
  created_at: timeOf(passkey.createdAtMs),
  last_used_at: passkey.lastUsedAtMs === null ? null : timeOf(passkey.lastUsedAtMs),
  transports: passkey.transports,
  can_sync: passkey.canSync,
  is_synced: passkey.isSynced,
  suspect: !isUsable(passkey),
});

const timeOf = (epochMs: number): string => new Date(epochMs).toISOString();
