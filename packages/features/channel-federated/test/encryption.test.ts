// Encrypted rooms on the fake homeserver, with matrix-js-sdk on the other side: it drives the fake too, and so proves it.
import { BOT, type MatrixPlatform, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { createClient, type MatrixClient, MatrixEventEvent } from "matrix-js-sdk";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect, eventually, never, sectionFor } from "./fixture.ts";
import { memoryStore } from "./memory-store.ts";

let platform: MatrixPlatform;
const clients: MatrixClient[] = [];
beforeEach(async () => {
  platform = await startMatrix({ encrypted: true });
});
afterEach(async () => {
  for (const client of clients.splice(0)) client.stopClient();
  await platform.close();
});

interface Other {
  readonly client: MatrixClient;
  /** Texts that it could decrypt, of the bot. */
  readonly read: string[];
}

/** As a person's app does it: log in, encryption, sync. */
async function sdk(userId: string, deviceId: string): Promise<Other> {
  const device = platform.world.addDevice(userId, deviceId);
  const client = createClient({ baseUrl: platform.url, userId, deviceId, accessToken: device.token });
  clients.push(client);
  await client.initRustCrypto({ useIndexedDB: false });
  const read: string[] = [];
  client.on(MatrixEventEvent.Decrypted, (event) => {
    if (event.getSender() === BOT && !event.isDecryptionFailure()) read.push(String(event.getContent()["body"]));
  });
  await client.startClient({ initialSyncLimit: 10 });
  await eventually(() => client.isInitialSyncComplete());
  return { client, read };
}

test("what is written in an encrypted room is read, and its answer can be read there alone", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const ada = await sdk(PERSON, "ADAPHONE");
  await ada.client.sendTextMessage(platform.room, "What is new?");
  await eventually(() => svc.received.length === 1);
  expect(svc.received[0]).toMatchObject({ text: "What is new?", sender: PERSON, conversation: { id: platform.room } });
  const { platformId } = await svc.channel.send(
    { conversation: svc.received[0]!.conversation, text: "**Nothing** at all", deliveryId: "d1" },
    never,
  );
  await eventually(() => ada.read.length === 1);
  expect(ada.read).toEqual(["**Nothing** at all"]);
  await svc.channel.drafts!.edit(
    { conversation: svc.received[0]!.conversation, platformId: platformId! },
    "Much",
    never,
  );
  await eventually(() => ada.read.includes("* Much"));
  const events = platform.world.rooms.get(platform.room)!.events.filter(({ sender }) => sender === BOT);
  expect(JSON.stringify(events)).not.toContain("Nothing");
  expect(events.filter(({ type }) => type === "m.room.message")).toEqual([]);
});

test("the next process has the same identity, and reads what was written while there was none", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  const ada = await sdk(PERSON, "ADAPHONE");
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
    await ada.client.sendTextMessage(platform.room, "one");
    await eventually(() => svc.received.length === 1);
  }
  const keys = JSON.stringify(platform.world.accounts.get(BOT)!.devices.get(platform.deviceId)!.keys);
  await ada.client.sendTextMessage(platform.room, "two");
  await using svc = await connect(sectionFor(platform), kept, store);
  await eventually(() => svc.received.length === 1);
  expect(svc.received[0]!.text).toBe("two");
  expect(JSON.stringify(platform.world.accounts.get(BOT)!.devices.get(platform.deviceId)!.keys)).toBe(keys);
});

/** Keys for the bot go nowhere until they are delivered. */
function withholdKeys(): { deliver(): void } {
  const { world } = platform;
  const send = world.sendToDevice.bind(world);
  const withheld: (() => void)[] = [];
  world.sendToDevice = (device, event) => {
    if (device.userId === BOT && event["type"] === "m.room.encrypted") withheld.push(() => send(device, event));
    else send(device, event);
  };
  return {
    deliver() {
      world.sendToDevice = send;
      for (const deliver of withheld) deliver();
    },
  };
}

const saidInRoom = () =>
  platform.world.rooms
    .get(platform.room)!
    .events.filter(({ sender, type }) => sender === BOT && type.startsWith("m.room.mess"));

test("a message without its key is kept locked, not answered, and read once when the key comes", async () => {
  const ada = await sdk(PERSON, "ADAPHONE");
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const keys = withholdKeys();
  await ada.client.sendTextMessage(platform.room, "Can you read me?");
  await eventually(() => svc.received.length === 1);
  const { id } = svc.received[0]!;
  expect(svc.received[0]).toMatchObject({ kind: "locked", sender: PERSON, conversation: { id: platform.room } });
  expect(saidInRoom()).toEqual([]);
  keys.deliver();
  await eventually(() => svc.received.length === 2);
  expect(svc.received[1]).toMatchObject({ id, text: "Can you read me?" });
  await ada.client.sendTextMessage(platform.room, "And me?");
  await eventually(() => svc.received.length === 3);
  expect(svc.received[2]).toMatchObject({ text: "And me?" });
});

test("a key that came just before the process ended opens the message in the next one", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  const ada = await sdk(PERSON, "ADAPHONE");
  const keys = withholdKeys();
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
    await ada.client.sendTextMessage(platform.room, "Can you read me?");
    await eventually(() => svc.received.length === 1);
  }
  const before = await kept.state.get("undecrypted");
  const position = await kept.state.get("sync");
  keys.deliver();
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await eventually(() => svc.received.length > 0);
  }
  // The key is in the store; what followed from it was cut off before it was on disk.
  await kept.state.set("undecrypted", before!);
  await kept.state.set("sync", position!);
  await using svc = await connect(sectionFor(platform), kept, store);
  await eventually(() => svc.received.length === 1);
  expect(svc.received).toMatchObject([{ text: "Can you read me?" }]);
  await eventually(async () => (await kept.state.get("undecrypted")) === "[]");
});

test("a message that is deleted before its key comes is not answered", async () => {
  const ada = await sdk(PERSON, "ADAPHONE");
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const keys = withholdKeys();
  const { event_id: id } = await ada.client.sendTextMessage(platform.room, "Forget this");
  await eventually(() => svc.received.length === 1);
  await ada.client.redactEvent(platform.room, id);
  await eventually(() => svc.context.withdrawn.includes(id));
  keys.deliver();
  await ada.client.sendTextMessage(platform.room, "Hello");
  await eventually(() => svc.received.length === 2);
  expect(svc.received[1]).toMatchObject({ text: "Hello" });
});

test("files are encrypted for another client, and what it encrypts is read", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const ada = await sdk(PERSON, "ADAPHONE");
  const wasm = await import("@matrix-org/matrix-sdk-crypto-wasm");
  const bytes = Buffer.from(Array.from({ length: 100_001 }, (_, at) => at % 251));
  const files = [
    { kind: "document", name: "a.bin", mimeType: "application/octet-stream", read: async () => bytes },
  ] as const;
  const conversation = { channel: "federated", id: platform.room };
  // Its devices are known once it has said something.
  await ada.client.sendTextMessage(platform.room, "a file, please");
  await eventually(() => svc.received.length === 1);
  const came = new Promise<Record<string, unknown>>((resolve) =>
    ada.client.on(MatrixEventEvent.Decrypted, (event) => {
      if (event.getContent()["msgtype"] === "m.file") resolve(event.getContent());
    }),
  );
  await svc.channel.send({ conversation, text: "", files: [...files], deliveryId: "d" }, never);
  const { url, ...keys } = (await came)["file"] as { url: string };
  const stored = platform.world.media.get(url.split("/").at(-1)!)!;
  expect(Buffer.from(stored.bytes).equals(bytes)).toBe(false);
  const opened = wasm.Attachment.decrypt(
    new wasm.EncryptedAttachment(
      stored.bytes,
      JSON.stringify({ ...keys, hashes: (keys as { hashes: unknown }).hashes }),
    ),
  );
  expect(Buffer.from(opened).equals(bytes)).toBe(true);

  const sealed = wasm.Attachment.encrypt(bytes);
  const info = JSON.parse(sealed.mediaEncryptionInfo!) as Record<string, unknown>;
  const uploaded = await ada.client.uploadContent(new Blob([Buffer.from(sealed.encryptedData)]), {
    type: "application/octet-stream",
  });
  const content = {
    msgtype: "m.image",
    body: "a.png",
    info: { mimetype: "image/png" },
    file: { ...info, url: uploaded.content_uri },
  };
  await ada.client.sendMessage(platform.room, content as never);
  await eventually(() => svc.received.length === 2);
  const [media] = svc.received[1]!.media!;
  const chunks: Uint8Array[] = [];
  await svc.channel.media!.fetch(media!, async (chunk) => void chunks.push(chunk), never);
  expect(Buffer.concat(chunks).equals(bytes)).toBe(true);
});

test("a message in clear text is not answered in an encrypted room", async () => {
  await using svc = await connect(sectionFor(platform));
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const ada = await sdk(PERSON, "ADAPHONE");
  platform.write({ from: PERSON, text: "I am the homeserver" });
  await ada.client.sendTextMessage(platform.room, "I am Ada");
  await eventually(() => svc.received.length > 0);
  expect(svc.received.map(({ text }) => text)).toEqual(["I am Ada"]);
});

test("the same ciphertext as another event is dropped, by the next process too", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  const ada = await sdk(PERSON, "ADAPHONE");
  const encrypted = () =>
    platform.world.rooms
      .get(platform.room)!
      .events.find(({ sender, type }) => sender === PERSON && type === "m.room.encrypted")!;
  /** As a homeserver that wants to have it done twice. */
  const replay = () => {
    const { content } = encrypted();
    platform.world.append({ roomId: platform.room, sender: PERSON, type: "m.room.encrypted", content });
  };
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
    await ada.client.sendTextMessage(platform.room, "Pay Bob");
    await eventually(() => svc.received.length === 1);
    replay();
    await ada.client.sendTextMessage(platform.room, "Thanks");
    await eventually(() => svc.received.length === 2);
    expect(svc.received.map(({ text }) => text)).toEqual(["Pay Bob", "Thanks"]);
    expect(svc.context.log.lines.filter(({ level }) => level === "warn")).toMatchObject([
      { message: expect.stringContaining("came a second time") },
    ]);
  }
  replay();
  await ada.client.sendTextMessage(platform.room, "Bye");
  await using svc = await connect(sectionFor(platform), kept, store);
  await eventually(() => svc.received.length > 0);
  expect(svc.received.map(({ text }) => text)).toEqual(["Bye"]);
});

test("after a restore, what was answered since the backup is not answered again", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  const store = memoryStore();
  const ada = await sdk(PERSON, "ADAPHONE");
  let backup: string | undefined;
  {
    await using svc = await connect(sectionFor(platform), kept, store);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
    await ada.client.sendTextMessage(platform.room, "one");
    await eventually(() => svc.received.length === 1);
    backup = await svc.context.state.get("sync");
    await ada.client.sendTextMessage(platform.room, "two");
    await ada.client.sendTextMessage(platform.room, "three");
    await eventually(() => svc.received.length === 3);
    const { conversation, replyData } = svc.received[1]!;
    await svc.channel.send({ conversation, replyData: replyData!, text: "two it is", deliveryId: "d2" }, never);
  }
  const restored = { state: memorySecrets(), secrets: kept.secrets };
  await restored.state.set("sync", backup!);
  await using svc = await connect(sectionFor(platform), restored, store);
  await eventually(() => svc.received.length > 0);
  expect(svc.received.map(({ text }) => text)).toEqual(["three"]);
});

test("lost keys stop the channel, and say what repairs it", async () => {
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  {
    await using svc = await connect(sectionFor(platform), kept);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  }
  await using svc = await connect(sectionFor(platform), kept, memoryStore());
  await eventually(() => svc.failure() !== undefined);
  expect(svc.failure()).toMatchObject({ code: "FEATURE_FAILED", hint: expect.stringContaining("svc channels setup") });
  // What needs them says so at once.
  await expect(svc.channel.verification!.begin(never)).rejects.toMatchObject({
    code: "CHANNEL_DOWN",
    message: "The homeserver has other encryption keys of this device.",
    hint: expect.stringContaining("svc channels setup") as string,
  });
});

test("a proxy that refuses the keys costs no device", async () => {
  platform.mood = ({ path }) => (path.endsWith("/keys/upload") ? { refuses: 400 } : "takes");
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  {
    await using svc = await connect(sectionFor(platform), kept);
    await eventually(() => svc.failure() !== undefined);
    expect(svc.failure()).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  }
  platform.mood = "takes";
  await using svc = await connect(sectionFor(platform), kept);
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
});

test("the account has cross-signing keys, a backup and a recovery key, by which a new device reads old messages", async () => {
  const section = sectionFor(platform, { access_token: undefined, password: "secret" });
  const kept = { state: memorySecrets(), secrets: memorySecrets() };
  let recoveryKey: string;
  const ada = await sdk(PERSON, "ADAPHONE");
  const opened = await connect(section, kept);
  await opened.channel.setup!({ url: "" }, never);
  await opened[Symbol.asyncDispose]();
  {
    await using svc = await connect(section, kept);
    await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
    await ada.client.sendTextMessage(platform.room, "before");
    await eventually(() => svc.received.length === 1);
    await eventually(() => (platform.world.accounts.get(BOT)!.backup?.keys.size ?? 0) > 0);
    const says = await svc.channel.setup!({ url: "" }, never);
    recoveryKey = /shown this once: (.+)$/.exec(says)?.[1] ?? "";
    expect(recoveryKey).toMatch(/^E[\w ]{50,}/);
    expect(await svc.channel.setup!({ url: "" }, never)).not.toContain("shown this once");
  }
  // Another home: nothing but the recovery key.
  const other = { state: memorySecrets(), secrets: memorySecrets() };
  const next = sectionFor(platform, {
    access_token: platform.world.addDevice(BOT, "SECOND").token,
    recovery_key: recoveryKey,
  });
  await using svc = await connect(next, other);
  await eventually(async () => (await svc.context.state.get("sync")) !== undefined);
  const { devices, crossSigning } = platform.world.accounts.get(BOT)!;
  const signatures = JSON.stringify((devices.get("SECOND")!.keys as { signatures: unknown }).signatures);
  const selfSigning = Object.keys(crossSigning.get("self_signing_key")!["keys"] as object)[0]!;
  await eventually(() =>
    JSON.stringify((devices.get("SECOND")!.keys as { signatures: unknown }).signatures).includes(selfSigning),
  );
  expect(signatures).toBeDefined();
  expect(svc.context.log.text()).not.toContain("not verified");
});
