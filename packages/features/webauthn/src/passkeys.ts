/**
 * The rules of passkeys: whose a user_id is, how many there may be, and that nothing is lost when two come at once. A user_id is
 * a device's from its first passkey there to its last.
 */
import { type ClientId, type SharedHandle, SvcError } from "@svc/contract";
import type { Passkey } from "./passkey.ts";
import { PasskeyStore, type StoreContext, type Which } from "./passkey-store.ts";

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
   * apart; whoever reads sees no half of it.
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

  /** Resolves once it is on disk. Throws as `checkRoom`, and PASSKEY_REFUSED for a credential that somebody has. */
  add(passkey: Passkey): Promise<void> {
    return this.#write(async () => {
      const { size } = await this.#store.ownersOf({ id: passkey.id });
      if (size > 0) throw new SvcError("PASSKEY_REFUSED", "This passkey is added already.");
      await this.#checkRoom(passkey);
      if (this.#context.pairedClient(passkey.owner) === undefined) throw new SvcError("UNAUTHORIZED");
      await this.#store.put(passkey);
    });
  }

  /** What became of the one that is meant; undefined: there is none. */
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
