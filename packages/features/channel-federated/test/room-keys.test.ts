// Who has the keys of a room: not those who left, and anyone who of the account's own devices lacks one may ask for it.
import { BOT, type MatrixPlatform, PERSON, startMatrix, STRANGER } from "@svc/testkit/platforms/matrix/server";
import { MatrixEventEvent } from "matrix-js-sdk";
import { VerificationPhase } from "matrix-js-sdk/lib/crypto-api/index.js";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect, eventually, never, sectionFor } from "./fixture.ts";
import { scanned, startPhone, until } from "./phone.ts";

let platform: MatrixPlatform;
const stops: (() => void)[] = [];
beforeEach(async () => {
  platform = await startMatrix({ encrypted: true });
});
afterEach(async () => {
  for (const stop of stops.splice(0)) stop();
  await platform.close();
});

/** A person's app, and the texts of the bot that it could read. */
async function app(userId: string, deviceId: string) {
  const client = await startPhone(platform.url, platform.world.addDevice(userId, deviceId));
  stops.push(() => client.stopClient());
  const read: string[] = [];
  client.on(MatrixEventEvent.Decrypted, (event) => {
    if (event.getSender() === BOT && !event.isDecryptionFailure()) read.push(String(event.getContent()["body"]));
  });
  return { client, read };
}

const sessionsOf = (sender: string, room = platform.room): string[] =>
  platform.world.rooms
    .get(room)!
    .events.filter((event) => event.sender === sender && event.type === "m.room.encrypted")
    .map(({ content }) => String(content["session_id"]));

test("the keys change when a member leaves, and go to those who are left alone", async () => {
  platform.world.setMembership(platform.room, STRANGER, "join");
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const ada = await app(PERSON, "ADAPHONE");
  const eve = await app(STRANGER, "EVEPHONE");
  const conversation = { channel: "federated", id: platform.room };
  const say = (text: string) => svc.channel.send({ conversation, text, deliveryId: text }, never);
  await say("one");
  await say("two");
  await eventually(() => ada.read.length === 2 && eve.read.length === 2);
  const keysForEve: unknown[] = [];
  const { world } = platform;
  const send = world.sendToDevice.bind(world);
  world.sendToDevice = (device, event) => {
    if (device.userId === STRANGER) keysForEve.push(event);
    send(device, event);
  };
  world.setMembership(platform.room, STRANGER, "leave");
  // The channel has heard of it once it has heard what came after it.
  await ada.client.sendTextMessage(platform.room, "Is she gone?");
  await eventually(() => svc.received.length === 1);
  keysForEve.splice(0);
  await say("three");
  await eventually(() => ada.read.includes("three"));
  const [first, second, third] = sessionsOf(BOT);
  expect(second).toBe(first);
  expect(third).not.toBe(first);
  expect(keysForEve).toEqual([]);
  expect(eve.read).toEqual(["one", "two"]);
});

test("the room says how many messages one key lasts for", async () => {
  const content = { algorithm: "m.megolm.v1.aes-sha2", rotation_period_msgs: 2 };
  const room = platform.world.addRoom([PERSON, BOT]);
  platform.world.append({ roomId: room, sender: PERSON, type: "m.room.encryption", content, stateKey: "" });
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const conversation = { channel: "federated", id: room };
  for (const text of ["1", "2", "3", "4", "5"]) await svc.channel.send({ conversation, text, deliveryId: text }, never);
  const sessions = sessionsOf(BOT, room);
  expect([sessions.length, new Set(sessions).size]).toEqual([5, 3]);
  expect(sessions[0]).toBe(sessions[1]);
});

test("asks the account's verified devices for a key that did not come, and takes it from them", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const { client: phone } = await app(BOT, "PHONE");
  await phone.getCrypto()!.getUserDeviceInfo([BOT], true);
  const request = await phone.getCrypto()!.requestDeviceVerification(BOT, platform.deviceId);
  await eventually(async () => (await svc.channel.verification!.requests(never)).length === 1);
  await svc.channel.verification!.begin(never);
  const shown = await until(svc, "scan");
  await eventually(() => request.phase === VerificationPhase.Ready);
  const verified = (await request.scanQRCode(await scanned(shown))).verify();
  await until(svc, "scanned");
  await svc.channel.verification!.answer(true, never);
  await verified;
  const ada = await app(PERSON, "ADAPHONE");
  const { world } = platform;
  const send = world.sendToDevice.bind(world);
  // What ada's app sends to the channel's device gets lost.
  world.sendToDevice = (device, event) => {
    const isLost = device.deviceId === platform.deviceId && event["sender"] === PERSON;
    if (!isLost) send(device, event);
  };
  await ada.client.sendTextMessage(platform.room, "Can you read me?");
  await eventually(() => svc.received.length === 2);
  expect(svc.received).toMatchObject([{ kind: "locked" }, { text: "Can you read me?" }]);
  const asked = platform.requests.find(({ path }) => path.includes("/sendToDevice/m.room_key_request/"))!;
  expect(JSON.stringify(asked.json)).toContain(sessionsOf(PERSON)[0]);
});
