// A channel that is on for months must not grow: 24 hours of an encrypted room, with the real store of keys, on a clock of the test's own.
import type { FetchOptions, FetchResult, Inbound, Json } from "@svc/contract";
import { fakeClock } from "@svc/testkit/fake-clock";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { openChannel } from "@svc/testkit/open-channel";
import { type Answer, MatrixFault } from "@svc/testkit/platforms/matrix/call";
import { routes } from "@svc/testkit/platforms/matrix/routes";
import { BOT, PERSON } from "@svc/testkit/platforms/matrix/server";
import { type Device, type Dict, World } from "@svc/testkit/platforms/matrix/world";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { Config } from "../src/config.ts";
import { create } from "../src/federated.ts";
import definition from "../src/index.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

const DAY_MS = 86_400_000;
const SAID_EVERY_MS = 120_000;
const QUIET_MS = 30_000;
const MIB = 1_048_576;
const MOST_GROWTH_MIB = 10;
const never = new AbortController().signal;

type Asked = Pick<FetchOptions, "method" | "headers"> & { readonly body?: Uint8Array | string | undefined };

/** A homeserver in this process, whose clients are called back where they would wait. */
function homeserver(now: () => number) {
  const world = new World("hs.test", now);
  const handle = routes(world);
  const ask = (url: URL, { method = "GET", headers = {}, body = "" }: Asked): Answer => {
    const bytes = Buffer.from(body as Uint8Array);
    const { pathname: path, searchParams: query } = url;
    return handle({ method, path, query, headers: headers as Record<string, string>, body: bytes, json: undefined });
  };
  return { world, ask };
}

/** Ada's app: the same library without a store. */
async function startAda({ world, ask }: ReturnType<typeof homeserver>, device: Device, room: string) {
  const wasm = await import("@matrix-org/matrix-sdk-crypto-wasm");
  await wasm.initAsync();
  const machine = await wasm.OlmMachine.initialize(new wasm.UserId(PERSON), new wasm.DeviceId(device.deviceId));
  const call = (method: string, path: string, body: string): Dict => {
    const headers = { authorization: `Bearer ${device.token}`, "content-type": "application/json" };
    return ask(new URL(`https://hs.test/_matrix/client/v3/${path}`), {
      method: method as never,
      headers,
      body,
    }) as Dict;
  };
  type Wanted = { id?: string; type: number; body: string; event_type?: string; txn_id?: string };
  const post = async (wanted: Wanted): Promise<void> => {
    const { type, body, event_type: eventType, txn_id: txnId } = wanted;
    const { KeysUpload, KeysQuery, KeysClaim, ToDevice } = wasm.RequestType;
    const paths = new Map<number, string>([
      [KeysUpload, "keys/upload"],
      [KeysQuery, "keys/query"],
      [KeysClaim, "keys/claim"],
    ]);
    const answer =
      type === ToDevice
        ? call("PUT", `sendToDevice/${eventType}/${txnId}`, body)
        : call("POST", paths.get(type) ?? "none", body);
    if (wanted.id !== undefined) await machine.markRequestAsSent(wanted.id, type, JSON.stringify(answer));
  };
  const flush = async (): Promise<void> => {
    for (const wanted of await machine.outgoingRequests()) await post(wanted as unknown as Wanted);
  };
  const roomId = () => new wasm.RoomId(room);
  let said = 0;
  let read = 0;
  return {
    /** Messages of the bot that it could read. */
    read: () => read,
    async say(): Promise<void> {
      const events = device.toDevice.splice(0).map(({ event }) => event);
      const settings = new wasm.DecryptionSettings(wasm.TrustRequirement.Untrusted);
      const counts = new Map([["signed_curve25519", device.oneTimeKeys.size]]);
      const lists = new wasm.DeviceLists([], []);
      await machine.receiveSyncChanges(JSON.stringify(events), lists, counts, new Set(["signed_curve25519"]), settings);
      const people = () => [BOT, PERSON].map((user) => new wasm.UserId(user));
      await machine.updateTrackedUsers(people());
      await flush();
      for (const event of world.rooms.get(room)!.events.splice(0)) {
        if (event.sender !== BOT || event.type !== "m.room.encrypted") continue;
        const trust = new wasm.DecryptionSettings(wasm.TrustRequirement.Untrusted);
        await machine.decryptRoomEvent(JSON.stringify(event), roomId(), trust);
        read += 1;
      }
      const claim = await machine.getMissingSessions(people());
      if (claim) await post(claim as unknown as Wanted);
      for (const share of await machine.shareRoomKey(roomId(), people(), new wasm.EncryptionSettings())) {
        await post(share as unknown as Wanted);
      }
      said += 1;
      const plain = JSON.stringify({ msgtype: "m.text", body: `message ${said} ${"words ".repeat(20)}` });
      const content = JSON.parse(await machine.encryptRoomEvent(roomId(), "m.room.message", plain)) as Dict;
      world.append({ roomId: room, sender: PERSON, type: "m.room.encrypted", content });
    },
    close: () => machine.close(),
  };
}

test("24 hours of an encrypted room keep nothing that grows with them", async () => {
  using home = temporaryHome();
  mkdirSync(join(home.path, "state", "features"), { recursive: true });
  const startMs = Date.UTC(2026, 5, 1);
  const clock = fakeClock(startMs);
  const server = homeserver(() => clock.now());
  const { world } = server;
  for (const user of [BOT, PERSON]) world.addAccount(user);
  const device = world.addDevice(BOT, "SVC");
  const room = world.addRoom([PERSON, BOT], { encrypted: true });
  const ada = await startAda(server, world.addDevice(PERSON, "ADAPHONE"), room);
  const counts = { syncs: 0, said: 0, received: 0, sent: 0 };
  const marks: number[] = [];
  const memory = (): number => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return (heapUsed + external) / MIB;
  };
  const ending = new AbortController();
  const unanswered: Inbound[] = [];

  /** What happens while the homeserver has nothing to tell. */
  const pass = async (): Promise<void> => {
    const { channel } = opened;
    for (const { conversation, replyData, id } of unanswered.splice(0)) {
      await channel.send({ conversation, replyData: replyData!, text: "Noted.", deliveryId: `d${id}` }, never);
      counts.sent += 1;
    }
    await clock.advance(counts.syncs % 4 === 0 ? QUIET_MS : SAID_EVERY_MS);
    // After the caches are warm, and after the day.
    const passedMs = clock.now() - startMs;
    if (marks.length === 0 && passedMs > DAY_MS / 12) marks.push(memory());
    if (passedMs > DAY_MS + DAY_MS / 12) {
      marks.push(memory());
      ending.abort(new Error("the day is over"));
    }
    if (counts.syncs % 4 === 0) return;
    await ada.say();
    counts.said += 1;
  };
  const reply = (json: Json, status = 200): FetchResult => {
    const bytes = Buffer.from(JSON.stringify(json));
    return { status, headers: {}, bytes, truncated: false, url: "https://hs.test/" };
  };
  const fetch = async (text: string, options: FetchOptions = {}): Promise<FetchResult> => {
    options.signal?.throwIfAborted();
    const url = new URL(text);
    try {
      let answer = server.ask(url, options as Asked);
      if (answer === "wait") {
        counts.syncs += 1;
        await pass();
        url.searchParams.set("timeout", "0");
        answer = server.ask(url, options as Asked);
      }
      return reply(answer as Json);
    } catch (error) {
      if (error instanceof MatrixFault) return reply({ errcode: error.errcode, ...error.more } as Json, error.status);
      throw error;
    }
  };
  const receive = async (messages: readonly Inbound[]) => {
    counts.received += messages.length;
    if (counts.received % 5 === 0) unanswered.push(...messages);
    return messages.map(() => "kept" as const);
  };
  const section = { homeserver: "https://hs.test", access_token: device.token, allowed_users: [PERSON] };
  const opened = openChannel<Config>({ definition, create }, section, {
    clock,
    fetch,
    receive,
    homeFolder: home.path,
    state: memorySecrets(),
  });
  await opened.made.run!(ending.signal);
  const [before = 0, after = 0] = marks;
  console.log(
    `${counts.syncs} syncs, ${counts.received} of ${counts.said} messages, ${ada.read()} of ${counts.sent} answers: ` +
      `${before.toFixed(1)} MiB, then ${after.toFixed(1)} MiB`,
  );
  ada.close();
  expect(counts.said).toBeGreaterThan(500);
  // What was said last is cut off with the day.
  expect(counts.said - counts.received).toBeLessThanOrEqual(1);
  expect(counts.sent).toBeGreaterThan(100);
  expect(ada.read()).toBeGreaterThanOrEqual(counts.sent - 1);
  expect(opened.context.log.lines.filter(({ level }) => level === "warn" || level === "error")).toEqual([]);
  expect(after - before).toBeLessThan(MOST_GROWTH_MIB);
});
