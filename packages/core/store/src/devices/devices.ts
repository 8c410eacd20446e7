/** Paired devices. All of them are kept in memory as well: looking up a bearer must not touch the disk. */
import type { DatabaseSync } from "node:sqlite";
import type { ClientId } from "@svc/contract";
import type { GroupCommit } from "../engine/group-commit.ts";
import { DELETE_OF_CLIENT } from "./vault.ts";
import type { Device, Scope } from "../types.ts";
import { rowsOf } from "../rows.ts";

/** How stale `last_seen_at` may get before it is written again. */
const TOUCH_EVERY_MS = 60_000;

export class DeviceStore {
  readonly #commits: GroupCommit;
  readonly #devices = new Map<string, Device>();
  readonly #insert;
  readonly #touch;
  readonly #rename;
  readonly #delete;
  readonly #deleteSecrets;

  constructor(db: DatabaseSync, commits: GroupCommit) {
    this.#commits = commits;
    this.#insert = db.prepare("INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?, ?)");
    this.#touch = db.prepare("UPDATE devices SET last_seen_at = ? WHERE id = ?");
    this.#rename = db.prepare("UPDATE devices SET name = ? WHERE id = ?");
    this.#delete = db.prepare("DELETE FROM devices WHERE id = ?");
    this.#deleteSecrets = db.prepare(DELETE_OF_CLIENT);
    for (const row of rowsOf<DeviceRow>(db.prepare("SELECT * FROM devices ORDER BY created_at").all())) {
      this.#devices.set(row.id, deviceOf(row));
    }
  }

  all(): readonly Device[] {
    return [...this.#devices.values()];
  }

  /** Asked of every event of a turn that somebody reads. */
  ofClient(clientId: ClientId): Device | undefined {
    for (const device of this.#devices.values()) if (device.clientId === clientId) return device;
    return undefined;
  }

  /** Resolves once the device is on disk; until then nobody sees it. Rejects with STORE_*. */
  async add(device: Device): Promise<void> {
    await this.#commits.write(() =>
      this.#insert.run(
        device.id,
        device.tokenHash,
        device.clientId,
        device.name,
        device.scope,
        device.createdAt,
        device.lastSeenAt ?? null,
      ),
    );
    this.#devices.set(device.id, device);
  }

  /** Notes that the device was seen; written at most once a minute, and never waited for. */
  touch(id: string, atMs: number): void {
    const device = this.#devices.get(id);
    if (!device || atMs - (device.lastSeenAt ?? 0) < TOUCH_EVERY_MS) return;
    this.#change(id, { lastSeenAt: atMs });
    this.#commits
      .write(() => this.#touch.run(atMs, id))
      .catch(() => {
        // A device's last-seen time is not worth an error; the next request tries again.
        this.#change(id, { lastSeenAt: device.lastSeenAt });
      });
  }

  /** Resolves with whether there is such a device, once its new name is on disk. Rejects with STORE_*. */
  async rename(id: string, name: string): Promise<boolean> {
    const { changes } = await this.#commits.write(() => this.#rename.run(name, id));
    this.#change(id, { name });
    return Number(changes) > 0;
  }

  /** Resolves with whether there was such a device, once it is gone from disk with all that features keep of it. */
  async remove(id: string): Promise<boolean> {
    const { changes } = await this.#commits.write(() => {
      const device = this.#devices.get(id);
      if (device) this.#deleteSecrets.run(device.clientId);
      return this.#delete.run(id);
    });
    this.#devices.delete(id);
    return Number(changes) > 0;
  }

  /** Never brings back a device that was removed while something about it was written. */
  #change(id: string, changed: Partial<Device>): void {
    const device = this.#devices.get(id);
    if (device) this.#devices.set(id, { ...device, ...changed });
  }
}

export interface DeviceRow {
  id: string;
  token_hash: string;
  client_id: string;
  name: string;
  scope: string;
  created_at: number;
  last_seen_at: number | null;
}

export function deviceOf(row: DeviceRow): Device {
  return {
    id: row.id,
    tokenHash: row.token_hash,
    clientId: row.client_id as ClientId,
    name: row.name,
    scope: row.scope as Scope,
    createdAt: row.created_at,
    lastSeenAt: row.last_seen_at ?? undefined,
  };
}
