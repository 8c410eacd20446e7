// One event for which the homeserver is asked in vain must not end the connection: it would come again with each start, for ever.
import { type FetchOptions, type FetchResult, SvcError } from "@svc/contract";
import { captureLogger } from "@svc/testkit/capture-logger";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { BOT, type MatrixPlatform, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import type { MatrixClient } from "matrix-js-sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type MatrixApi, MatrixRefusal } from "../src/api.ts";
import { openCrypto } from "../src/crypto.ts";
import { connect, type Connected, eventually, never, sectionFor } from "./fixture.ts";
import { memoryStore } from "./memory-store.ts";
import { startPhone } from "./phone.ts";

let platform: MatrixPlatform;
const phones: MatrixClient[] = [];
beforeEach(async () => {
  platform = await startMatrix({ encrypted: true });
});
afterEach(async () => {
  for (const phone of phones.splice(0)) phone.stopClient();
  await platform.close();
});

async function adasPhone(): Promise<MatrixClient> {
  const phone = await startPhone(platform.url, platform.world.addDevice(PERSON, "ADAPHONE"));
  phones.push(phone);
  return phone;
}

const listening = async (svc: Connected): Promise<void> =>
  eventually(async () => (await svc.context.state.get("sync")) !== undefined);
const textsOf = ({ received }: Connected): string[] =>
  received.filter(({ kind }) => kind !== "locked").map(({ text }) => text);

const encryptedIn = ({ world, room }: MatrixPlatform) =>
  world.rooms.get(room)!.events.findLast(({ type }) => type === "m.room.encrypted")!;

/** A homeserver that refuses requests whose path has this in it. */
const refusing =
  (part: string) =>
  async (url: string, { method = "GET", headers = {}, body, signal }: FetchOptions = {}): Promise<FetchResult> => {
    if (url.includes(part)) {
      return { status: 403, headers: {}, bytes: Buffer.from('{"errcode":"M_FORBIDDEN"}'), truncated: false, url };
    }
    const answer = await fetch(url, {
      method,
      headers,
      ...(body && { body: Buffer.from(body) }),
      ...(signal && { signal }),
    });
    const bytes = new Uint8Array(await answer.arrayBuffer());
    return { status: answer.status, headers: Object.fromEntries(answer.headers), bytes, truncated: false, url };
  };

test.each([
  ["..", ".."],
  ["a/../b", "a/../b"],
  ["20 000 characters long", "x".repeat(20_000)],
])("a session whose id is %s is asked for nowhere", async (_, session) => {
  await using svc = await connect(sectionFor(platform));
  await listening(svc);
  const ada = await adasPhone();
  await ada.sendTextMessage(platform.room, "one");
  await eventually(() => textsOf(svc).length === 1);
  const { content } = encryptedIn(platform);
  const named = { ...content, session_id: session };
  platform.world.append({ roomId: platform.room, sender: PERSON, type: "m.room.encrypted", content: named });
  await eventually(() => svc.received.some(({ kind }) => kind === "locked"));
  await ada.sendTextMessage(platform.room, "two");
  await eventually(() => svc.failure() !== undefined || textsOf(svc).length === 2);
  expect([svc.failure(), textsOf(svc)]).toEqual([undefined, ["one", "two"]]);
});

test("a message whose key comes after the account has left its room is let go", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  const other = platform.world.addRoom([PERSON, BOT], { encrypted: true });
  const ada = await adasPhone();
  const send = platform.world.sendToDevice.bind(platform.world);
  const withheld: (() => void)[] = [];
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await listening(svc);
    platform.world.sendToDevice = (device, event) =>
      device.userId === BOT && event["type"] === "m.room.encrypted"
        ? withheld.push(() => send(device, event))
        : send(device, event);
    await ada.sendTextMessage(platform.room, "Can you read me?");
    await eventually(() => svc.received.length === 1);
    platform.world.setMembership(platform.room, BOT, "leave", PERSON);
  }
  platform.world.sendToDevice = send;
  for (const deliver of withheld) deliver();
  await using svc = await connect(sectionFor(platform), kept, store);
  await eventually(async () => svc.failure() !== undefined || (await kept.state.get("undecrypted")) === "[]");
  await ada.sendTextMessage(other, "And here?");
  await eventually(() => svc.failure() !== undefined || textsOf(svc).length > 0);
  expect([svc.failure(), textsOf(svc)]).toEqual([undefined, ["And here?"]]);
});

test("a reply to what the account may not see is one to somebody else", async () => {
  const room = platform.world.addRoom([PERSON, BOT, "@bob:hs.test"]);
  await using svc = await connect(sectionFor(platform), { fetch: refusing("/event/") });
  await listening(svc);
  const content = { msgtype: "m.text", body: "what?", "m.relates_to": { "m.in_reply_to": { event_id: "$old" } } };
  platform.write({ from: PERSON, text: "what?", content, roomId: room });
  platform.write({ from: PERSON, text: `${BOT}: and this?`, roomId: room });
  await eventually(() => svc.failure() !== undefined || svc.received.length > 0);
  expect([svc.failure(), textsOf(svc)]).toEqual([undefined, ["and this?"]]);
});

test("a gap that the homeserver does not fill is told, and what came after it is read", async () => {
  const room = platform.world.addRoom([PERSON, BOT]);
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await listening(svc);
  }
  for (let at = 0; at < 80; at += 1) platform.write({ from: PERSON, text: `message ${at}`, roomId: room });
  await using svc = await connect(sectionFor(platform), { ...kept, fetch: refusing("/messages?") }, store);
  await eventually(() => svc.failure() !== undefined || svc.received.length > 0);
  expect([svc.failure(), svc.received.length, svc.received.at(-1)?.text]).toEqual([undefined, 50, "message 79"]);
  expect(svc.context.log.text()).toContain("the oldest are not answered");
});

test("a message of the encryption that the homeserver refuses is not sent again; one that a proxy refuses is", async () => {
  let errcode: string | undefined = "M_FORBIDDEN";
  const api = {
    call: () => Promise.reject(new MatrixRefusal(new SvcError("DELIVERY_REFUSED", "no"), 403, errcode, undefined)),
  } as unknown as MatrixApi;
  const log = captureLogger();
  const crypto = await openCrypto({ api, userId: BOT, deviceId: "SVC", openStore: memoryStore(), people: [], log });
  const request = new crypto.wasm.ToDeviceRequest("1", "m.room_key_request", "1", "{}");
  const sent: string[] = [];
  crypto.machine.outgoingRequests = async () => (sent.length === 0 ? [request] : []);
  crypto.machine.markRequestAsSent = async (id) => {
    sent.push(id);
    return true;
  };
  await crypto.flush(never);
  expect([sent, log.lines.map(({ level }) => level)]).toEqual([["1"], ["warn"]]);
  sent.splice(0);
  errcode = undefined;
  await expect(crypto.flush(never)).rejects.toMatchObject({ httpStatus: 403 });
  expect(sent).toEqual([]);
  await crypto.close();
});
