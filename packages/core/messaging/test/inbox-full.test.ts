// An inbox that takes more than it can hold, or that one person fills so that nobody else gets in.
import { SvcError } from "@svc/contract";
import type { Store } from "@svc/store";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { describe, expect, test } from "vitest";
import { hang } from "@svc/agent/agent-fixture";
import { afterKill, messagingFixture, quiet, said, saidIn } from "./messaging-fixture.ts";

describe("too much", () => {
  test("is refused before any of it is kept", async () => {
    using made = messagingFixture({ idle: true });
    const { store, messaging } = made;
    store.inbox.waiting = () =>
      Array.from({ length: 99_999 }, (_, n) => ({ n: -n, channel: "gone", kind: "message", conversationKey: "l" }));
    messaging.start();
    const error = await messaging.receive("chat", [said("1"), said("2")]).catch((error: unknown) => error);
    expect(error).toMatchObject({ code: "BUSY", retryAfterMs: 1_000 });
    expect(store.inbox.read(1)).toBeUndefined();
    expect(await messaging.receive("chat", [said("1")])).toEqual(["kept"]);
    expect(await messaging.receive("chat", [said("2")]).catch(({ code }: SvcError) => code)).toBe("BUSY");
  });

  test("counts what is on its way to the disk too", async () => {
    using made = messagingFixture({ settings: { isUp: () => false } });
    const some = Array.from({ length: 40_000 }, (_, room) => saidIn(`${room}`, "x"));
    const outcomes = await Promise.allSettled([1, 2, 3].map(() => made.messaging.receive("chat", some)));
    expect(outcomes.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
  });

  test("a disk that refuses is an error, and nothing is taken on", async () => {
    using made = messagingFixture({
      wrap: (store) => ({ ...store, write: () => Promise.reject(new SvcError("STORE_FULL")) }),
    });
    expect(await made.messaging.receive("chat", [said("x")]).catch(({ code }: SvcError) => code)).toBe("STORE_FULL");
    await quiet();
    expect([made.model.asked, made.events]).toEqual([[], []]);
  });
});

describe("too much of one conversation", () => {
  const codeOf = (outcome: Promise<unknown>) =>
    outcome.then(
      () => "kept",
      ({ code, retryAfterMs }: SvcError) => `${code} ${retryAfterMs}`,
    );
  const full = Array.from({ length: 1_000 }, () => saidIn("loud", "x"));

  test("is refused, and nobody else's", async () => {
    using made = messagingFixture({ settings: { isUp: () => false } });
    const { messaging } = made;
    await messaging.receive("chat", full.slice(1));
    expect(await codeOf(messaging.receive("chat", [saidIn("loud", "the last one")]))).toBe("kept");
    expect(await codeOf(messaging.receive("chat", [saidIn("loud", "too much")]))).toBe("BUSY 30000");
    expect(await codeOf(messaging.receive("chat", [saidIn("quiet", "hello")]))).toBe("kept");
    expect(made.store.inbox.counts().inbox.waiting).toBe(1_001);
  });

  test("is refused with all that came with it, so that all of it comes again", async () => {
    using made = messagingFixture({ settings: { isUp: () => false } });
    await made.messaging.receive("chat", full);
    const batch = [saidIn("quiet", "hello", { id: "q" }), saidIn("loud", "too much", { id: "l" })];
    expect(await codeOf(made.messaging.receive("chat", batch))).toBe("BUSY 30000");
    expect(made.store.inbox.counts().inbox.waiting).toBe(1_000);
    expect(await made.messaging.receive("chat", [batch[0]!])).toEqual(["kept"]);
  });

  test("counts what is on its way to the disk too, and not what did not get there", async () => {
    let isFull = true;
    const wrap = (store: Store): Store => ({
      ...store,
      write: (change) => (isFull ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
    });
    using made = messagingFixture({ wrap, settings: { isUp: () => false } });
    const both = (): Promise<string[]> =>
      Promise.all([full, full.slice(0, 1)].map((some) => codeOf(made.messaging.receive("chat", some))));
    expect(await both()).toEqual(["STORE_FULL undefined", "BUSY 30000"]);
    isFull = false;
    expect(await both()).toEqual(["kept", "BUSY 30000"]);
  });

  test("is not what comes at once where there is room: it would never be taken", async () => {
    using made = messagingFixture({ settings: { isUp: () => false } });
    expect(await codeOf(made.messaging.receive("chat", [...full, ...full]))).toBe("kept");
  });

  test("is still too much after a restart, until some of it is answered", async () => {
    const target = temporaryHome();
    using made = messagingFixture({ settings: { isUp: () => false } });
    await made.messaging.receive("chat", full);
    afterKill(made.folder, target.path);
    let isUp = false;
    using next = messagingFixture({ folder: target.path, settings: { isUp: () => isUp } });
    expect(await codeOf(next.messaging.receive("chat", [saidIn("loud", "more")]))).toBe("BUSY 30000");
    isUp = true;
    await next.clock.advance(1_000);
    await quiet();
    expect(next.chat.taken.length).toBeGreaterThan(0);
    expect(await codeOf(next.messaging.receive("chat", [saidIn("loud", "more")]))).toBe("kept");
    target.remove();
  });

  test("does not keep out the /stop that ends it, nor a reaction", async () => {
    using made = messagingFixture({ think: hang });
    await made.messaging.receive("chat", full);
    await made.receive(saidIn("loud", "", { kind: "reaction" }), saidIn("loud", "/stop"));
    while (made.chat.taken.length === 0) await quiet();
    expect(made.chat.taken).toEqual(["Stopped."]);
    expect(made.store.inbox.counts().inbox.waiting).toBe(0);
  });
});
