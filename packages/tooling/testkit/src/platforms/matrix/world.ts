/** What a homeserver knows: accounts, devices and their keys, rooms and their events, in one order. */
import { createHash, randomBytes } from "node:crypto";

export type Dict = Record<string, unknown>;

export interface RoomEvent {
  readonly type: string;
  readonly sender: string;
  content: Dict;
  readonly event_id: string;
  readonly room_id: string;
  readonly origin_server_ts: number;
  readonly state_key?: string;
  readonly redacts?: string;
  unsigned: Dict;
  /** That sent it, with its id for the event. */
  readonly transaction?: { readonly device: Device; readonly id: string };
  /** Place in the order of everything. */
  readonly at: number;
}

export interface Device {
  readonly userId: string;
  readonly deviceId: string;
  readonly token: string;
  keys?: Dict;
  readonly oneTimeKeys: Map<string, unknown>;
  readonly fallbackKeys: Map<string, unknown>;
  readonly toDevice: { readonly at: number; readonly event: Dict }[];
  readonly transactions: Map<string, string>;
}

export interface Account {
  readonly userId: string;
  readonly password: string;
  displayName: string;
  readonly devices: Map<string, Device>;
  readonly crossSigning: Map<string, Dict>;
  readonly accountData: Map<string, Dict>;
  backup?: { readonly version: string; readonly body: Dict; readonly keys: Map<string, Map<string, unknown>> };
}

export interface Room {
  readonly id: string;
  readonly events: RoomEvent[];
  readonly state: Map<string, RoomEvent>;
}

export interface NewEvent {
  readonly roomId: string;
  readonly sender: string;
  readonly type: string;
  readonly content: Dict;
  readonly stateKey?: string;
  readonly redacts?: string;
  readonly atMs?: number;
  readonly transaction?: RoomEvent["transaction"];
}

export class World {
  readonly accounts = new Map<string, Account>();
  readonly rooms = new Map<string, Room>();
  readonly aliases = new Map<string, string>();
  readonly media = new Map<
    string,
    { readonly bytes: Uint8Array; readonly mimeType: string; readonly redirect?: string }
  >();
  readonly deviceChanges: { readonly at: number; readonly userId: string }[] = [];
  /** Typing, receipts: what people see beside messages. */
  readonly signs: { readonly kind: "typing" | "receipt"; readonly roomId: string; readonly detail: string }[] = [];
  readonly #listeners = new Set<() => void>();
  readonly server: string;
  readonly now: () => number;
  at = 1;
  /** Messages are refused for so long. */
  limitMs: number | undefined;

  constructor(server: string, now: () => number) {
    this.server = server;
    this.now = now;
  }

  addAccount(userId: string, password = "secret"): Account {
    const account: Account = {
      userId,
      password,
      displayName: userId.slice(1).split(":")[0]!,
      devices: new Map(),
      crossSigning: new Map(),
      accountData: new Map(),
    };
    this.accounts.set(userId, account);
    return account;
  }

  addDevice(
    userId: string,
    deviceId = randomBytes(5).toString("hex").toUpperCase(),
    token = `syt_${randomBytes(16).toString("hex")}`,
  ): Device {
    const account = this.accounts.get(userId) ?? this.addAccount(userId);
    const device: Device = {
      userId,
      deviceId,
      token,
      oneTimeKeys: new Map(),
      fallbackKeys: new Map(),
      toDevice: [],
      transactions: new Map(),
    };
    account.devices.set(deviceId, device);
    return device;
  }

  deviceOf(token: string | undefined): Device | undefined {
    for (const { devices } of this.accounts.values()) {
      for (const device of devices.values()) if (device.token === token) return device;
    }
    return undefined;
  }

  /** A room of these people; the first one created it. */
  addRoom(members: readonly string[], { encrypted = false }: { readonly encrypted?: boolean } = {}): string {
    const roomId = `!${randomBytes(9).toString("base64url")}:${this.server}`;
    this.rooms.set(roomId, { id: roomId, events: [], state: new Map() });
    const [creator = ""] = members;
    this.append({
      roomId,
      sender: creator,
      type: "m.room.create",
      content: { room_version: "10", creator },
      stateKey: "",
    });
    for (const member of members) this.setMembership(roomId, member, "join");
    this.append({
      roomId,
      sender: creator,
      type: "m.room.history_visibility",
      content: { history_visibility: "shared" },
      stateKey: "",
    });
    this.append({
      roomId,
      sender: creator,
      type: "m.room.power_levels",
      content: { users: { [creator]: 100 }, users_default: 50 },
      stateKey: "",
    });
    if (encrypted) this.encrypt(roomId, creator);
    return roomId;
  }

  encrypt(roomId: string, sender: string): void {
    const content = { algorithm: "m.megolm.v1.aes-sha2" };
    this.append({ roomId, sender, type: "m.room.encryption", content, stateKey: "" });
  }

  setMembership(roomId: string, userId: string, membership: string, sender = userId): RoomEvent {
    const displayname = this.accounts.get(userId)?.displayName;
    const content = { membership, ...(displayname !== undefined && { displayname }) };
    return this.append({ roomId, sender, type: "m.room.member", content, stateKey: userId });
  }

  membership(roomId: string, userId: string): string | undefined {
    return this.rooms.get(roomId)?.state.get(`m.room.member ${userId}`)?.content["membership"] as string | undefined;
  }

  append({ roomId, sender, type, content, stateKey, redacts, atMs, transaction }: NewEvent): RoomEvent {
    const room = this.rooms.get(roomId)!;
    this.at += 1;
    const event_id = `$${createHash("sha256").update(`${roomId} ${this.at}`).digest("base64url")}`;
    const previous = stateKey === undefined ? undefined : room.state.get(`${type} ${stateKey}`);
    const event: RoomEvent = {
      type,
      sender,
      content,
      event_id,
      room_id: roomId,
      origin_server_ts: atMs ?? this.now(),
      ...(stateKey !== undefined && { state_key: stateKey }),
      ...(redacts !== undefined && { redacts }),
      unsigned: {
        ...(previous && { prev_content: previous.content }),
      },
      ...(transaction && { transaction }),
      at: this.at,
    };
    room.events.push(event);
    if (stateKey !== undefined) room.state.set(`${type} ${stateKey}`, event);
    if (redacts !== undefined) {
      const target = room.events.find((one) => one.event_id === redacts);
      if (target) [target.content, target.unsigned] = [{}, { redacted_because: shown(event) }];
    }
    this.changed();
    return event;
  }

  sendToDevice(device: Device, event: Dict): void {
    this.at += 1;
    device.toDevice.push({ at: this.at, event });
    this.changed();
  }

  deviceChanged(userId: string): void {
    this.at += 1;
    this.deviceChanges.push({ at: this.at, userId });
    this.changed();
  }

  changed(): void {
    for (const listener of this.#listeners) listener();
  }

  /** Calls `listener` at the next change; the result forgets it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

/** As clients see it; the device that sent it sees its own id for it, too. */
export function shown(event: RoomEvent, device?: Device): Dict {
  const { at: _, transaction, ...copy } = event;
  if (transaction === undefined || transaction.device !== device) return copy;
  return { ...copy, unsigned: { ...copy.unsigned, transaction_id: transaction.id } };
}
