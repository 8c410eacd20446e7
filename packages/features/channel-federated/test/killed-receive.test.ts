// A sync answer that brings keys, and a kill before any write to the store of the keys: what comes again opens what the keys are for.
import { type MatrixPlatform, BOT, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import { captureLogger } from "@svc/testkit/capture-logger";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Fields } from "@svc/kit";
import type { MatrixApi } from "../src/api.ts";
import { openCryptoStore } from "../src/crypto-store/crypto-store.ts";
import { SealedFile } from "../src/crypto-store/sealed-file.ts";
import { type Crypto, type CryptoChanges, type CryptoDeps, openCrypto } from "../src/crypto.ts";
import { never } from "./fixture.ts";
import { memoryStore } from "./memory-store.ts";

const KEY = new Uint8Array(32).fill(7);
const EACH_MESSAGE = { rotationMs: undefined, rotationMessages: 1 };

let platform: MatrixPlatform;
let home: ReturnType<typeof temporaryHome>;
const opened: Crypto[] = [];
beforeEach(async () => {
  platform = await startMatrix({ encrypted: true });
  home = temporaryHome();
});
afterEach(async () => {
  vi.restoreAllMocks();
  for (const crypto of opened.splice(0)) await crypto.close();
  await platform.close();
  home.remove();
});

/** Of a device, without a channel around it. */
async function open(userId: string, deviceId: string, openStore: CryptoDeps["openStore"]): Promise<Crypto> {
  const device = platform.world.accounts.get(userId)!.devices.get(deviceId)!;
  const api: MatrixApi = {
    async call({ method, path, json, jsonText }) {
      const body = jsonText ?? (json === undefined ? null : JSON.stringify(json));
      const headers = { authorization: `Bearer ${device.token}` };
      const answer = await fetch(`${platform.url}/_matrix/${path}`, { method, headers, body });
      if (!answer.ok) throw new Error(await answer.text());
      return (await answer.json()) as Fields;
    },
    download: () => Promise.reject(new Error("nothing is downloaded")),
  };
  const crypto = await openCrypto({ api, userId, deviceId, openStore, people: [], log: captureLogger() });
  opened.push(crypto);
  return crypto;
}

async function close(crypto: Crypto): Promise<void> {
  opened.splice(opened.indexOf(crypto), 1);
  await crypto.close();
}

/** The process has one IndexedDB at a time. A device goes on with its own without it. */
async function openPhone(deviceId: string): Promise<Crypto> {
  platform.world.addDevice(PERSON, deviceId);
  const phone = await open(PERSON, deviceId, memoryStore());
  Reflect.deleteProperty(globalThis, "indexedDB");
  await phone.flush(never);
  return phone;
}

const openBot = (path: string): Promise<Crypto> =>
  open(BOT, platform.deviceId, async () => {
    const store = await openCryptoStore({ path, key: KEY, create: true });
    return Object.assign(store, { refusal: () => undefined });
  });

/** The file as it is found after a kill, before each write that is asked for from now on. */
function killsOf(path: string) {
  const found: string[] = [];
  const keep = (): void => {
    const copy = join(home.path, `killed-${found.length}.db`);
    const db = new DatabaseSync(path, { readOnly: true });
    db.exec(`VACUUM INTO '${copy}'`);
    db.close();
    found.push(copy);
  };
  // oxlint-disable-next-line typescript/unbound-method
  const { commit } = SealedFile.prototype;
  vi.spyOn(SealedFile.prototype, "commit").mockImplementation(function commitLater(this: SealedFile, ...args) {
    keep();
    commit.apply(this, args);
  });
  return {
    stop(): readonly string[] {
      vi.restoreAllMocks();
      keep();
      return found;
    },
  };
}

async function say(phone: Crypto, text: string): Promise<Fields> {
  const event = { roomId: platform.room, userIds: [BOT], encryption: EACH_MESSAGE, type: "m.room.message" };
  const content = await phone.encrypt({ ...event, content: { msgtype: "m.text", body: text } }, never);
  return { type: "m.room.encrypted", sender: PERSON, content, event_id: `$${text}`, origin_server_ts: 1 };
}

/** What the bot is sent meanwhile. */
function sentToBot(): CryptoChanges {
  const { toDevice, oneTimeKeys } = platform.world.accounts.get(BOT)!.devices.get(platform.deviceId)!;
  return {
    toDevice: toDevice.map(({ event }) => event) as never,
    changed: [],
    left: [],
    keyCounts: { signed_curve25519: oneTimeKeys.size },
    unusedFallbackKeys: ["signed_curve25519"],
  };
}

const textOf = async (crypto: Crypto, event: Fields): Promise<unknown> => {
  const result = await crypto.decrypt(platform.room, event);
  return result.state === "decrypted" ? (result.event["content"] as Fields)["body"] : result.state;
};

/** The bot gets the keys of four messages of two devices, the later key of each first. */
async function keysFromTwo(path: string) {
  const phones = [await openPhone("ADAPHONE"), await openPhone("ADALAPTOP")];
  const bot = await openBot(path);
  await bot.flush(never);
  const said: Fields[] = [];
  for (const phone of phones) for (const n of [1, 2]) said.push(await say(phone, `${phones.indexOf(phone)} ${n}`));
  const changes = sentToBot();
  expect(changes.toDevice).toHaveLength(4);
  return { bot, said, arrived: { ...changes, toDevice: changes.toDevice.toReversed() } };
}

/** After each of the kills the homeserver hands over the same answer. */
async function expectAllRead(found: readonly string[], arrived: CryptoChanges, said: readonly Fields[]): Promise<void> {
  const texts = said.map(({ event_id: id }) => String(id).slice(1));
  for (const file of found) {
    const next = await openBot(file);
    await next.receive(arrived, never);
    expect([file, ...(await Promise.all(said.map((event) => textOf(next, event))))]).toEqual([file, ...texts]);
    await close(next);
  }
}

test("a kill at any write while keys are received loses none of them", async () => {
  const path = join(home.path, "crypto.db");
  const { bot, said, arrived } = await keysFromTwo(path);
  const kills = killsOf(path);
  await bot.receive(arrived, never);
  const found = kills.stop();
  await close(bot);
  expect(found.length).toBeGreaterThan(2);
  await expectAllRead(found, arrived, said);
});

test("nor does a kill while the same sessions are used to send", async () => {
  const path = join(home.path, "crypto.db");
  const { bot, said, arrived } = await keysFromTwo(path);
  const kills = killsOf(path);
  const event = { roomId: platform.room, userIds: [PERSON], encryption: EACH_MESSAGE, type: "m.room.message" };
  const answer = { ...event, content: { msgtype: "m.text", body: "Yes." } };
  await Promise.all([bot.receive(arrived, never), ...[1, 2, 3].map(() => bot.encrypt(answer, never))]);
  const found = kills.stop();
  await close(bot);
  expect(found.length).toBeGreaterThan(2);
  await expectAllRead(found, arrived, said);
});
