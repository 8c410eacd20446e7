/**
 * The rules of passkeys: whose a user_id is, how many there may be, and that nothing is lost when two come at once. A user_id is
 * a device's from its first passkey there to its last.
 */
import { type ClientId, type FeatureContext, type Json, type SharedHandle, SvcError } from "@svc/contract";
import { hash } from "node:crypto";
import * as v from "valibot";

const MAX_PER_USER = 20;
const MAX_USERS = 10;

interface Place {
  readonly owner: ClientId;
  readonly userId: string;
}

export class Passkeys {
  readonly #context: StoreContext;
  readonly #store: PasskeyStore;
  /**
   * The lock alone: what it guards is on disk. One writer at a time, so that what is checked and what is written can't come
   * apart; a reader never sees half of a change.
   */
  readonly #turn: SharedHandle<null>;

  constructor(context: StoreContext, turn: SharedHandle<null>) {
    this.#context = context;
    this.#store = new PasskeyStore(context);
    this.#turn = turn;
  }

  /** Oldest first. */
  list(which: Which): Promise<Passkey[]> {
    return this.#turn.read(() => this.#store.find(which));
  }

  /** Throws PASSKEY_UNKNOWN for another device's user_id, PASSKEY_LIMIT. */
  checkRoom(place: Place): Promise<void> {
    return this.#turn.read(() => this.#checkRoom(place));
  }

  /** Resolves once it is on disk. Throws as `checkRoom`, and PASSKEY_REFUSED for a registered credential. */
  add(passkey: Passkey): Promise<void> {
    return this.#write(async () => {
      const { size } = await this.#store.ownersOf({ id: passkey.id });
      if (size > 0) throw new SvcError("PASSKEY_REFUSED", "This passkey is added already.");
      await this.#checkRoom(passkey);
      if (this.#context.pairedClient(passkey.owner) === undefined) throw new SvcError("UNAUTHORIZED");
      await this.#store.put(passkey);
    });
  }

  /** The changed passkey; undefined if it does not exist. */
  async change(which: Which, change: (passkey: Passkey) => Passkey): Promise<Passkey | undefined> {
    let changed: Passkey | undefined;
    await this.#write(async () => {
      const [passkey] = await this.#store.find(which);
      if (passkey === undefined) return;
      changed = change(passkey);
      if (changed !== passkey) await this.#store.change(changed);
    });
    return changed;
  }

  /** `check` throws to keep it; `others` are its user's. Throws PASSKEY_UNKNOWN. */
  remove(which: Which, check: (others: readonly Passkey[]) => void): Promise<void> {
    return this.#write(async () => {
      const [passkey] = await this.#store.find(which);
      if (passkey === undefined) throw new SvcError("PASSKEY_UNKNOWN");
      const { owner, userId, id } = passkey;
      const all = await this.#store.find({ owner, userId });
      check(all.filter((other) => other.id !== id));
      await this.#store.delete(passkey);
    });
  }

  /** Once, before anything else. */
  sweep(signal: AbortSignal): Promise<void> {
    return this.#write(() => this.#store.sweep(signal));
  }

  async #checkRoom({ owner, userId }: Place): Promise<void> {
    const owners = await this.#store.ownersOf({ userId });
    if (owners.size > (owners.has(owner) ? 1 : 0)) throw new SvcError("PASSKEY_UNKNOWN");
    if (!owners.has(owner) && (await this.#store.usersOf(owner)) >= MAX_USERS) {
      throw new SvcError("PASSKEY_LIMIT", `A device may have ${MAX_USERS} user_ids; remove the passkeys of one first.`);
    }
    if ((await this.#store.find({ owner, userId })).length >= MAX_PER_USER) {
      throw new SvcError("PASSKEY_LIMIT", `A user_id may have ${MAX_PER_USER} passkeys; remove one first.`);
    }
  }

  async #write(work: () => Promise<void>): Promise<void> {
    await this.#turn.write(async () => {
      await work();
      return null;
    });
  }
}

// Where passkeys are kept: each among its device's own secrets, and in an index of all by which a user_id or a credential finds its device.
// Names are hashes (user / credential). The index is written first and taken away last: what stands in it counts only as far as the passkey
// is there, so that a kill in between leaves nothing that has to be fixed.

/** Which of them; what is not said does not matter. */
export interface Which {
  readonly owner?: ClientId | undefined;
  readonly userId?: string | undefined;
  readonly id?: string | undefined;
}

type StoreContext = Pick<FeatureContext, "log" | "pairedClient" | "secrets" | "secretsOf">;

class PasskeyStore {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Oldest first. With an owner nothing of others is looked at; without, what a revoked device had is dropped when it is met. */
  async find(which: Which): Promise<Passkey[]> {
    const found: Passkey[] = [];
    for (const { name, owner } of await this.#places(which)) {
      const text = await this.#context.secretsOf(owner).get(name);
      if (text !== undefined) found.push(read(text, owner));
    }
    return found.toSorted(byAge);
  }

  /** Devices that have some of these. */
  async ownersOf(which: Which): Promise<ReadonlySet<ClientId>> {
    return new Set((await this.#places(which)).map(({ owner }) => owner));
  }

  /** How many user_ids a device has. */
  async usersOf(owner: ClientId): Promise<number> {
    return new Set((await this.#context.secretsOf(owner).list()).map((name) => name.split("/")[0])).size;
  }

  async put(passkey: Passkey): Promise<void> {
    const name = nameOf(passkey);
    await this.#context.secrets.set(name, passkey.owner);
    await this.change(passkey);
  }

  /** One that is there. */
  async change(passkey: Passkey): Promise<void> {
    await this.#context.secretsOf(passkey.owner).set(nameOf(passkey), written(passkey));
  }

  async delete(passkey: Passkey): Promise<void> {
    await this.#context.secretsOf(passkey.owner).delete(nameOf(passkey));
    await this.#context.secrets.delete(nameOf(passkey));
  }

  /** Drops what revoked devices, and kills in the middle of a change, left behind. What can't be read stays, and is told. */
  async sweep(signal: AbortSignal): Promise<void> {
    for (const name of await this.#context.secrets.list()) {
      signal.throwIfAborted();
      await this.#holder(name).catch((cause: unknown) => {
        if (!(cause instanceof SvcError) || cause.code !== "SECRET_UNREADABLE") throw cause;
        this.#context.log.warn("a passkey can't be read with this home's key file, and does not work");
      });
    }
  }

  async #places({ owner, userId, id }: Which): Promise<{ readonly name: string; readonly owner: ClientId }[]> {
    const { pairedClient, secrets, secretsOf } = this.#context;
    const isMeant = (name: string): boolean => id === undefined || name.endsWith(`/${digest(id)}`);
    const start = userId && `${digest(userId)}/`;
    if (owner !== undefined) {
      const names = pairedClient(owner) === undefined ? [] : await secretsOf(owner).list(start);
      return names.filter(isMeant).map((name) => ({ name, owner }));
    }
    const places: { name: string; owner: ClientId }[] = [];
    for (const name of (await secrets.list(start)).filter(isMeant)) {
      const holder = await this.#holder(name);
      if (holder !== undefined) places.push({ name, owner: holder });
    }
    return places;
  }

  /** Whose it is, as long as that device is paired and has it. What a revoked one had is gone with it, but for this line. */
  async #holder(name: string): Promise<ClientId | undefined> {
    const { pairedClient, secrets, secretsOf, log } = this.#context;
    const storedClientId = await secrets.get(name);
    if (storedClientId === undefined) return undefined;
    const owner = pairedClient(storedClientId);
    if (owner !== undefined && (await secretsOf(owner).list(name)).includes(name)) return owner;
    await secrets.delete(name);
    log.info("removed a passkey without a user");
    return undefined;
  }
}

/** Those of one moment by their names, which count. */
const byAge = (a: Passkey, b: Passkey): number =>
  a.createdAtMs - b.createdAtMs || compare(a.userId, b.userId) || compare(a.name, b.name);

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const nameOf = ({ userId, id }: Passkey): string => `${digest(userId)}/${digest(id)}`;

const digest = (text: string): string => hash("sha256", text, "base64url");

// One passkey: what is kept of it, sealed, and what is told.

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

const written = (passkey: Passkey): string => JSON.stringify(passkey, Object.keys(RECORD.entries));

/** Throws SECRET_UNREADABLE. */
function read(text: string, owner: ClientId): Passkey {
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
