// A disk that does not hand over the keys says nothing of the message: it must not be taken for one that no key can open.
import type { SvcError } from "@svc/contract";
import { captureLogger } from "@svc/testkit/capture-logger";
import { memorySecrets } from "@svc/testkit/memory-secrets";
import { BOT, PERSON, startMatrix } from "@svc/testkit/platforms/matrix/server";
import { expect, test } from "vitest";
import type { MatrixApi } from "../src/api.ts";
import { type CryptoDeps, openCrypto } from "../src/crypto.ts";
import { storeFixture } from "./crypto-store/store-fixture.ts";
import { connect, eventually, sectionFor } from "./fixture.ts";
import { memoryStore } from "./memory-store.ts";
import { startPhone } from "./phone.ts";

/** What the homeserver is asked first about each message: the alias is known for an hour only. */
const ROOM = "#office:hs.test";
const HOUR_MS = 3_600_000;

test.each(["a sync begins", "a message is decrypted"])(
  "a message waits while the keys can't be read when %s, and is received once they can",
  async (when) => {
    await using stack = new AsyncDisposableStack();
    const platform = stack.adopt(await startMatrix({ encrypted: true }), (one) => one.close());
    platform.world.aliases.set(ROOM, platform.room);
    const fixture = stack.use(storeFixture());
    const refusals: string[] = [];
    const openStore: CryptoDeps["openStore"] = async () => {
      let refusal: SvcError | undefined;
      const store = await fixture.openStore({
        onRefused(error) {
          refusal = error;
          refusals.push(error.code);
        },
      });
      const { install, atomically, close } = store;
      return { install, atomically, close, refusal: () => refusal };
    };
    const device = platform.world.addDevice(PERSON, "ADAPHONE");
    const ada = stack.adopt(await startPhone(platform.url, device), (one) => one.stopClient());
    const kept = { state: memorySecrets(), secrets: memorySecrets() };
    const section = sectionFor(platform, { allowed_rooms: [ROOM] });
    {
      await using svc = await connect(section, kept, openStore);
      await eventually(async () => (await kept.state.get("sync")) !== undefined);
      await ada.sendTextMessage(platform.room, "one");
      await eventually(() => svc.received.length === 1);
      let isDamaged = false;
      const damage = (): void => {
        if (!isDamaged)
          fixture.alter("CREATE TABLE kept AS SELECT * FROM record", "UPDATE record SET sealed = zeroblob(64)");
        isDamaged = true;
      };
      if (when === "a sync begins") damage();
      else {
        await svc.context.clock.advance(HOUR_MS);
        platform.mood = ({ path }) => {
          if (path.includes("/directory/room/")) damage();
          return "takes";
        };
      }
      await ada.sendTextMessage(platform.room, "two");
      await eventually(() => svc.failure() !== undefined);
      expect(svc.failure()).toMatchObject({ code: "STORE_FAILED" });
      expect(svc.received.map(({ text }) => text)).toEqual(["one"]);
      expect(refusals).toEqual(["STORE_FAILED"]);
    }
    platform.mood = "takes";
    fixture.alter("UPDATE record SET sealed = (SELECT sealed FROM kept WHERE kept.n = record.n)");
    await using svc = await connect(section, kept, openStore);
    await eventually(() => svc.received.length === 1);
    expect(svc.received.map(({ text }) => text)).toEqual(["two"]);
  },
);

test("a message that the library fails on waits; one that is malformed does not", async () => {
  const log = captureLogger();
  const crypto = await openCrypto({
    api: {} as MatrixApi,
    userId: BOT,
    deviceId: "SVC",
    openStore: memoryStore(),
    people: [],
    log,
  });
  const content = { algorithm: "m.megolm.v1.aes-sha2", session_id: "s", ciphertext: "no Megolm message" };
  const event = { type: "m.room.encrypted", event_id: "$e", sender: PERSON, origin_server_ts: 1, content };
  expect(await crypto.decrypt("!a:hs.test", event)).toEqual({ state: "unreadable" });
  crypto.machine.decryptRoomEvent = () => Promise.reject(new WebAssembly.RuntimeError("unreachable"));
  expect(await crypto.decrypt("!a:hs.test", event)).toEqual({ state: "waiting", sessionId: "s", isMissing: false });
  expect(log.lines.filter(({ level }) => level === "error")).toHaveLength(1);
  await crypto.close();
});
