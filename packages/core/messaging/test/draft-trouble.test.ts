// A platform or a disk in trouble while an answer is seen being written must cost no more than that it is seen.
import { SvcError } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { quiet, said, saidIn } from "./messaging-fixture.ts";
import { draftsFixture } from "./drafts-fixture.ts";

describe("a platform in trouble", () => {
  test("is asked again when it says so, not sooner, and is told what is newest then", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    const busy = () => Promise.reject(new SvcError("DELIVERY_FAILED", undefined, { retryAfterMs: 7_000 }));
    chat.mood = busy;
    await made.receive(said("hi"));
    await pen.say("1");
    await made.pass(1_000);
    chat.mood = () => undefined;
    // A tenth of what it asks for is jitter.
    await made.pass(7_500);
    expect(chat.sent).toEqual([]);
    await pen.say("2");
    await made.pass(500);
    expect(chat.shown).toEqual(["12"]);
    chat.editMood = busy;
    await pen.say("3");
    await made.pass(1_000);
    chat.editMood = () => undefined;
    await made.pass(7_500);
    expect(chat.shown).toEqual(["12"]);
    await made.pass(500);
    expect(chat.shown).toEqual(["123"]);
    expect(made.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  test("that may have taken the beginning is not sent it again, and the answer comes all the same", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    let tries = 0;
    chat.mood = () => ((tries += 1), Promise.reject(new SvcError("REMOTE_TIMEOUT", "words of the platform")));
    await made.receive(said("hi"));
    await pen.say("1");
    await made.pass(30_000);
    expect(tries).toBe(1);
    chat.mood = () => undefined;
    await pen.end();
    expect([chat.shown, made.row(1).state]).toEqual([["1"], "done"]);
    expect(made.log.text()).not.toContain("words of the platform");
  });

  test("that takes no edit for a while is asked less and less, and what hangs is called off", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("1");
    await made.pass(1_000);
    const asked: number[] = [];
    chat.editMood = () => (asked.push(made.clock.monotonic()), Promise.reject(new Error("sk-secret")));
    await pen.say("2");
    await made.pass(40_000);
    const rests = asked.slice(1).map((at, index) => at - asked[index]!);
    expect(rests.slice(0, 4)).toEqual([2_000, 4_000, 8_000, 16_000]);
    chat.editMood = () => new Promise(() => {});
    await made.pass(70_000);
    chat.editMood = () => undefined;
    await made.pass(70_000);
    expect(chat.shown).toEqual(["12"]);
    expect(made.log.text()).not.toContain("sk-secret");
  });

  test("that takes the beginning when nobody waits for that any more has the answer in its place", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    const late = Promise.withResolvers<void>();
    chat.mood = () => late.promise;
    await made.receive(said("hi"));
    await pen.say("1");
    await made.pass(40_000);
    late.resolve();
    await quiet();
    expect([chat.shown, made.row(1).draft]).toEqual([["1"], "chat-1"]);
    await pen.say("2");
    await pen.end();
    expect(chat.shown).toEqual(["12"]);
  });

  test("whose receipt has no id gets no edits", async () => {
    const { made, chat, pen } = draftsFixture();
    using _ = made;
    const { send } = chat.channel;
    Object.assign(chat.channel, { send: async (...all: Parameters<typeof send>) => (await send(...all), {}) });
    await made.receive(said("hi"));
    await pen.say("1");
    await made.pass(1_000);
    await pen.say("2");
    await made.pass(5_000);
    await pen.end();
    expect(chat.shown).toEqual(["1", "12"]);
  });
});

describe("a disk that is full", () => {
  /** Refuses whatever is written while it is full. */
  const filling = () => {
    const disk = { isFull: false };
    const made = draftsFixture({
      wrap: (store) => ({
        ...store,
        write: (change) => (disk.isFull ? Promise.reject(new SvcError("STORE_FULL")) : store.write(change)),
      }),
    });
    return { ...made, disk };
  };

  test("when the beginning is posted keeps nobody from seeing the rest, and the end takes its place", async () => {
    const { made, chat, pen, disk } = filling();
    using _ = made;
    await made.receive(said("hi"));
    disk.isFull = true;
    await pen.say("Hel");
    await made.pass(1_000);
    expect([chat.shown, made.row(1).draft]).toEqual([["Hel"], undefined]);
    await pen.say("lo");
    await made.pass(1_000);
    expect(chat.shown).toEqual(["Hello"]);
    disk.isFull = false;
    await pen.say("!");
    await made.pass(1_000);
    expect(made.row(1).draft).toBe("chat-1");
    await pen.end();
    expect([chat.shown, chat.sent.length]).toEqual([["Hello!"], 1]);
  });

  test("until after the end makes the answer come later, and still in its place", async () => {
    const { made, chat, pen, disk } = filling();
    using _ = made;
    await made.receive(said("hi"));
    disk.isFull = true;
    await pen.say("Hel");
    await made.pass(1_000);
    await pen.say("lo");
    await pen.end();
    expect(made.row(1)).toMatchObject({ state: "waiting", attempts: 0 });
    disk.isFull = false;
    await made.pass(5_000);
    expect(pen.asked).toHaveLength(2);
    await pen.say("Hello.");
    await pen.end();
    expect([chat.shown, chat.sent.length, made.row(1).state]).toEqual([["Hello."], 1, "done"]);
  });
});

test("conversations do not wait for each other's edits", async () => {
  const { made, chat, pen } = draftsFixture();
  using _ = made;
  chat.mood = ({ conversation }) => (conversation.id === "a" ? new Promise(() => {}) : undefined);
  await made.receive(saidIn("a", "hi"));
  await pen.say("slow");
  await made.pass(1_000);
  await made.receive(saidIn("b", "hi"));
  await pen.say("quick");
  await made.pass(1_000);
  expect(chat.shown).toEqual(["quick"]);
});
