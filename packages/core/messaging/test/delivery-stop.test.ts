// A start that waits for the back-off of a process that is gone, or sends what was dropped; a stop that cuts off what was
// nearly sent, begins something new, counts what it called off, or never ends.
import type { OutgoingFile } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { gate } from "@svc/agent/agent-fixture";
import { deliveryFixture, down, quiet, say } from "./delivery-fixture.ts";

describe("a start", () => {
  test("sends at once what the last process left, however long it was to rest, in order", async () => {
    using agentFixture = deliveryFixture({ idle: true });
    const { keep, chat, clock, store, dispatcher } = agentFixture;
    const [first] = await keep(say("a", "1"), say("a", "2"), say("b", "b1"));
    await store.write(() => store.outbox.retry(first!.n, "DELIVERY_FAILED", clock.now() + 300_000));
    dispatcher.wake([first!]);
    await quiet();
    expect(chat.asked).toEqual([]);
    dispatcher.start();
    await quiet();
    expect(chat.taken).toEqual(["1", "b1", "2"]);
  });

  test("counts on from the attempts that were made", async () => {
    using agentFixture = deliveryFixture({ idle: true, settings: { maxAttempts: 2 } });
    const { keep, chat, store, dispatcher, row } = agentFixture;
    const [kept] = await keep(say("a", "1"));
    await store.write(() => store.outbox.retry(kept!.n, "DELIVERY_FAILED", 0));
    chat.mood = () => down();
    dispatcher.start();
    await quiet();
    expect(row(kept!.n)).toMatchObject({ state: "dead", attempts: 2 });
  });
});

describe("a stop", () => {
  test("lets what is being sent end, begins nothing new, and waits for nothing else", async () => {
    using agentFixture = deliveryFixture();
    const { post, keep, chat, clock, dispatcher, row } = agentFixture;
    const busy = gate();
    chat.mood = ({ text }) => (text === "rests" ? down() : busy.opened);
    const [first, second] = await post(say("a", "1"), say("a", "2"), say("b", "rests"));
    const stopped = dispatcher.stop(5_000);
    dispatcher.wake(await keep(say("c", "late")));
    busy.open();
    await stopped;
    await quiet();
    expect([chat.taken, row(first!.n).state, row(second!.n).state]).toEqual([["1"], "sent", "waiting"]);
    expect(clock.waiting).toBe(0);
  });

  test.each(["hang", "deaf"] as const)(
    "calls off after its grace what does not end; no attempt is counted: %s",
    async (mood) => {
      using agentFixture = deliveryFixture();
      const { post, chat, clock, dispatcher, row } = agentFixture;
      chat.mood = () => mood;
      const [kept] = await post(say("a", "1"));
      let isStopped = false;
      void dispatcher.stop(5_000).then(() => (isStopped = true));
      await clock.advance(4_999);
      await quiet();
      expect(isStopped).toBe(false);
      await clock.advance(1);
      await quiet();
      expect([isStopped, row(kept!.n), clock.waiting]).toMatchObject([true, { state: "waiting", attempts: 0 }, 0]);
    },
  );

  test("leaves no timer behind: of a send that fails meanwhile, of a channel that is down", async () => {
    using agentFixture = deliveryFixture({ settings: { isUp: (id) => id === "chat" } });
    const { post, chat, clock, dispatcher } = agentFixture;
    const busy = gate();
    chat.mood = () => busy.opened.then(() => Promise.reject(down()));
    await post(say("a", "1"), say("b", "b", { conversation: { channel: "other", id: "b" }, conversationKey: "b" }));
    const stopped = dispatcher.stop(5_000);
    busy.open();
    await stopped;
    expect([chat.asked.length, clock.waiting]).toEqual([1, 0]);
  });

  test("in the moment before a message reaches its channel: it does not", async () => {
    const file = gate<OutgoingFile>();
    using agentFixture = deliveryFixture({ openFile: () => file.opened });
    const { post, chat, clock, dispatcher } = agentFixture;
    await post(say("a", "1", { files: [{ kind: "image", path: "a.png", agent: "default" }] }));
    const stopped = dispatcher.stop(0);
    await clock.advance(0);
    await stopped;
    file.open({ kind: "image", name: "a.png", mimeType: "image/png", read: async () => new Uint8Array() });
    await quiet();
    expect(chat.asked).toEqual([]);
  });

  test("with nothing to do ends at once, more than once too", async () => {
    using agentFixture = deliveryFixture();
    await agentFixture.dispatcher.stop(5_000);
    await agentFixture.dispatcher.stop(5_000);
    expect(agentFixture.clock.waiting).toBe(0);
  });
});

describe("a delivery that is dropped", () => {
  test.each([
    ["while it waits its turn", "2", ["1", "3"]],
    ["while it rests", "1", ["2", "3"]],
  ])("%s is not sent, and holds nobody up", async (_, text, taken) => {
    using agentFixture = deliveryFixture();
    const { post, chat, clock, store, dispatcher } = agentFixture;
    chat.mood = (message) => (message.text === "1" ? down() : "take");
    const rows = await post(say("a", "1"), say("a", "2"), say("a", "3"));
    chat.mood = () => "take";
    const dropped = rows.find((row) => row.text === text)!;
    await store.write(() => store.outbox.drop(dropped.n));
    dispatcher.forget(dropped);
    await quiet();
    if (text !== "1") await clock.advance(1_000);
    await quiet();
    expect(chat.taken).toEqual(taken);
  });

  test("while its channel is down leaves nothing to be looked for", async () => {
    let isUp = false;
    using agentFixture = deliveryFixture({ settings: { isUp: () => isUp } });
    const { post, chat, clock, store, dispatcher, log } = agentFixture;
    const [kept] = await post(say("a", "1"));
    await store.write(() => store.outbox.drop(kept!.n));
    dispatcher.forget(kept!);
    isUp = true;
    await clock.advance(1_000);
    await post(say("a", "2"));
    expect([chat.taken, log.lines, clock.waiting]).toEqual([["2"], [], 0]);
  });

  test("while it is being sent is called off, stays dropped, and the next one goes", async () => {
    using agentFixture = deliveryFixture();
    const { post, chat, store, dispatcher, row, events, clock } = agentFixture;
    chat.mood = ({ text }) => (text === "1" ? "hang" : "take");
    const [first] = await post(say("a", "1"), say("a", "2"));
    await store.write(() => store.outbox.drop(first!.n));
    dispatcher.forget(first!);
    await quiet();
    expect([chat.taken, row(first!.n).state, events.length, clock.waiting]).toEqual([["2"], "dropped", 1, 0]);
  });

  test("in the instant in which the platform refuses it, stays dropped and is not told as failed", async () => {
    using agentFixture = deliveryFixture({ settings: { maxAttempts: 1 } });
    const { post, chat, store, row, events } = agentFixture;
    chat.mood = ({ text }) =>
      text === "1" ? store.write(() => store.outbox.drop(1)).then(() => Promise.reject(down())) : "take";
    const [first] = await post(say("a", "1"), say("a", "2"));
    expect([first!.n, row(1).state, chat.taken, events.length]).toEqual([1, "dropped", ["2"], 1]);
  });
});
