/**
 * Where passkeys are kept: each among its device's own secrets, and in an index of all by which a user_id or a credential finds
 * its device. Names are hashes (user / credential). The index is written first and taken away last: what stands in it counts
 * only as far as the passkey is there, so that a kill in between leaves nothing that has to be fixed.
 */
import { hash } from "node:crypto";
import { type ClientId, type FeatureContext, SvcError } from "@svc/contract";
import { type Passkey, read, written } from "./passkey.ts";

/** Which of them; what is not said does not matter. */
export interface Which {
  readonly owner?: ClientId | undefined;
  readonly userId?: string | undefined;
  readonly id?: string | undefined;
}

export type StoreContext = Pick<FeatureContext, "log" | "pairedClient" | "secrets" | "secretsOf">;

export class PasskeyStore {
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
    const kept = await secrets.get(name);
    if (kept === undefined) return undefined;
    const owner = pairedClient(kept);
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
