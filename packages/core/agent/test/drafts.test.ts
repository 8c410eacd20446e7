// An answer that is seen being written: there twice, out of order, with a secret in it, or lost when the platform is in trouble.
import { SvcError } from "@svc/contract";
import { createRedactor, DOTS } from "@svc/kernel";
import { fakeWorkspace, temporaryHome } from "@svc/testkit";
import { describe, expect, test } from "vitest";
import { act, call, read, until } from "./house.ts";
import { afterKill, quiet, said, saidIn, status } from "./messaging-house.ts";
import { writingHouse } from "./writing-house.ts";

const lost = () => Object.assign(new Error("lost"), { isRetryable: true });
const refused = () => {
  throw new SvcError("DELIVERY_REFUSED");
};

describe("while it is written", () => {
  test("its beginning is posted after an interval, and edited at most once in each that follows", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    await made.receive(said("hi", { replyData: { under: 7 } }));
    await pen.say("Hel");
    await made.pass(500);
    await pen.say("lo, ");
    await made.clock.advance(499);
    expect(chat.sent).toEqual([]);
    await made.pass(1);
    const { turnId } = made.row(1);
    expect(chat.sent).toEqual([
      {
        conversation: { channel: "chat", id: "room" },
        text: "Hello,",
        deliveryId: `draft-${turnId}`,
        replyData: { under: 7 },
      },
    ]);
    expect(made.row(1).draft).toBe("chat-1");
    await pen.say("wor");
    await made.clock.advance(999);
    await pen.say("ld");
    expect(chat.edits).toEqual([]);
    await made.pass(1);
    expect(chat.edits).toEqual([
      {
        sent: { conversation: { channel: "chat", id: "room" }, platformId: "chat-1", replyData: { under: 7 } },
        text: "Hello, world",
      },
    ]);
    await made.pass(20_000);
    expect(chat.edits).toHaveLength(1);
    await pen.say("!");
    await pen.end();
    expect([chat.shown, chat.edits.length, made.row(1).state]).toEqual([["Hello, world!"], 2, "done"]);
    expect(made.store.outbox.ofTurn(turnId)).toMatchObject([{ draft: "chat-1", platformId: "chat-1", state: "sent" }]);
    expect(made.events.map(({ type }) => type)).toEqual(["message-received", "message-delivered"]);
    expect(made.clock.waiting).toBe(0);
  });

  test("one that is whole within the first interval is simply sent, and blank text is none", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say(" \n ");
    await made.pass(5_000);
    expect(chat.sent).toEqual([]);
    await pen.say("Quick.");
    await pen.end();
    expect([chat.shown, chat.edits, made.clock.waiting]).toEqual([[" \n Quick."], [], 0]);
  });

  test("ten thousand pieces cost a few edits", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    await made.receive(said("hi"));
    for (let n = 0; n < 100; n += 1) {
      for (let piece = 0; piece < 99; piece += 1) void pen.say("x");
      await pen.say("x");
      await made.clock.advance(50);
    }
    await pen.end();
    expect([chat.sent.length, chat.edits.length <= 4]).toEqual([3, true]);
    expect(chat.shown.join("")).toBe("x".repeat(10_000));
  });

  test("there are never two edits at once, and what came meanwhile is told together", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    const gates: (() => void)[] = [];
    chat.editMood = () => new Promise((resolve) => gates.push(resolve));
    await made.receive(said("hi"));
    await pen.say("1");
    await made.pass(1_000);
    for (const digit of ["2", "3", "4", "5"]) {
      await pen.say(digit);
      await made.pass(1_000);
    }
    expect([gates.length, chat.shown]).toEqual([1, ["1"]]);
    gates.shift()!();
    await quiet();
    expect(chat.shown).toEqual(["12"]);
    await made.pass(1_000);
    expect(gates).toHaveLength(1);
    gates.shift()!();
    await quiet();
    expect(chat.shown).toEqual(["12345"]);
  });

  test("what is said after a tool call takes the place of what was said before it, and not sooner", async () => {
    const { made, chat, pen } = writingHouse({ tools: [read] });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Let me look.");
    await made.pass(1_000);
    await pen.end(call("read"));
    await made.pass(5_000);
    expect(chat.shown).toEqual(["Let me look."]);
    await pen.say("Found it");
    await made.pass(1_000);
    expect(chat.shown).toEqual(["Found it"]);
    await pen.say(".");
    await pen.end();
    expect([chat.shown, chat.sent.length]).toEqual([["Found it."], 1]);
  });

  test("a model that is asked again begins it anew, and no try is lost to it", async () => {
    const { made, chat, pen } = writingHouse({ config: { model: { max_retries: 2 } } });
    using _ = made;
    await made.receive(said("hi"));
    for (const words of ["First try", "Second try"]) {
      await pen.say(words);
      await made.pass(1_000);
      expect(chat.shown).toEqual([words]);
      await pen.fail(lost());
      await made.pass(1_000);
    }
    await pen.say("At last.");
    await pen.end();
    expect([chat.shown, made.row(1).attempts, pen.asked.length]).toEqual([["At last."], 0, 3]);
  });

  test("a secret is never in it, in how many pieces it comes", async () => {
    const SECRET = "sk-live-0123456789";
    const { redact, partial: partialSecret } = createRedactor([SECRET]);
    const { made, chat, pen } = writingHouse({ redact, partialSecret });
    using _ = made;
    await made.receive(said("hi"));
    for (const letter of `it is ${SECRET}, keep it`) {
      await pen.say(letter);
      await made.pass(1_000);
    }
    await pen.end();
    const seen = [...chat.sent, ...chat.edits].map(({ text }) => text);
    expect(seen.length).toBeGreaterThan(10);
    expect(seen.filter((text) => /sk|live|0123/.test(text))).toEqual([]);
    expect(chat.shown).toEqual([`it is ${DOTS}, keep it`]);
  });

  test("what is too long for one message is cut, and in the end goes on behind it", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    Object.assign(chat.channel, { text: { maxChars: 30 } });
    await made.receive(said("hi"));
    await pen.say("A first sentence stands here. And a second one.");
    await made.pass(1_000);
    expect(chat.shown).toEqual(["A first sentence stands here …"]);
    await pen.say(" And a third.");
    await made.pass(5_000);
    expect(chat.edits).toEqual([]);
    await pen.end();
    expect(chat.shown).toEqual(["A first sentence stands here.", "And a second one. And a third."]);
  });

  test("it stands behind the answer before it, which the platform does not have yet", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    chat.mood = ({ text }) => {
      if (text === "One.") throw new SvcError("DELIVERY_FAILED", undefined, { retryAfterMs: 10_000 });
    };
    await made.receive(said("one"), said("two"));
    await pen.say("One.");
    await pen.end();
    await pen.say("Two");
    await made.pass(5_000);
    expect(chat.shown).toEqual([]);
    chat.mood = () => undefined;
    await made.pass(8_000);
    expect(chat.shown).toEqual(["One.", "Two"]);
    await pen.end();
    expect(chat.shown).toEqual(["One.", "Two"]);
  });

  test("a question to a person is asked beside it", async () => {
    const { made, chat, pen } = writingHouse({ asks: true, tools: [act], verdict: "ask" });
    using _ = made;
    await made.receive(said("do it"));
    await pen.say("I will.");
    await made.pass(1_000);
    await pen.end(call("act"));
    expect(chat.shown).toEqual(["I will.", "May it? #1"]);
    await made.receive(said("yes"));
    await pen.say("Done.");
    await pen.end();
    expect(chat.shown).toEqual(["Done.", "May it? #1", "approved #1"]);
    expect(chat.sent.map(({ deliveryId }) => deliveryId.startsWith("draft-"))).toEqual([true, false, false]);
  });

  test.each(["👍", "/status", "yes"])("%j has none", async (text) => {
    const { made, chat } = writingHouse({ asks: true });
    using _ = made;
    await made.receive(said(text, text === "👍" ? { kind: "reaction" } : {}));
    await made.pass(5_000);
    expect([...chat.sent, ...chat.edits].filter(({ text: shown }) => shown === text)).toEqual([]);
    expect(chat.sent.filter(({ deliveryId }) => deliveryId.startsWith("draft-"))).toEqual([]);
  });
});

describe("its end", () => {
  test("waits for an edit that is under way, which could come after it", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    const gate = Promise.withResolvers<void>();
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    chat.editMood = ({ text }) => (text === "Hello" ? gate.promise : undefined);
    await pen.say("lo");
    await made.pass(1_000);
    await pen.say(", world.");
    await pen.end();
    await made.pass(4_000);
    expect([made.row(1).state, chat.shown]).toEqual(["waiting", ["Hel"]]);
    gate.resolve();
    await quiet();
    expect([made.row(1).state, chat.shown]).toEqual(["done", ["Hello, world."]]);
    expect(chat.edits.map(({ text }) => text)).toEqual(["Hello", "Hello, world."]);
  });

  test("does not wait for ever: one that hangs is called off", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    let isCalledOff = false;
    chat.editMood = ({ text }, signal) => {
      if (text !== "Hello") return undefined;
      signal.addEventListener("abort", () => (isCalledOff = true));
      return new Promise(() => {});
    };
    await pen.say("lo");
    await made.pass(1_000);
    await pen.say("!");
    await pen.end();
    await made.pass(4_500);
    expect([made.row(1).state, isCalledOff]).toEqual(["waiting", false]);
    await made.pass(500);
    expect([made.row(1).state, isCalledOff, chat.shown]).toEqual(["done", true, ["Hello!"]]);
    expect(made.clock.waiting).toBe(0);
  });

  test("is a message of its own where the beginning can't be edited any more, in the same attempt", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    chat.editMood = refused;
    await pen.say("lo");
    await made.pass(1_000);
    const { turnId } = made.row(1);
    await pen.say(".");
    let edits = 0;
    chat.editMood = () => ((edits += 1), refused());
    await made.pass(10_000);
    expect(edits).toBe(0);
    await pen.end();
    expect([chat.shown, edits]).toEqual([["Hel", "Hello."], 1]);
    expect(made.store.outbox.ofTurn(turnId)).toMatchObject([{ state: "sent", attempts: 0, platformId: "chat-2" }]);
  });

  test("is tried again by editing when the platform is down, and is there once", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    chat.editMood = () => Promise.reject(new SvcError("REMOTE_TIMEOUT"));
    await pen.say("lo.");
    await pen.end();
    expect([chat.shown, made.row(1).state]).toEqual([["Hel"], "done"]);
    chat.editMood = () => undefined;
    await made.pass(2_000);
    expect([chat.shown, chat.sent.length]).toEqual([["Hello."], 1]);
  });

  test("leaves no file unsent, and no line that names one is ever seen", async () => {
    const { made, chat, pen } = writingHouse({ workspace: fakeWorkspace({ "a.png": "png" }) });
    using _ = made;
    const media = { maxBytes: 100, sends: ["image"] as const, fetch: () => Promise.reject(new Error()) };
    Object.assign(chat.channel, { media });
    await made.receive(said("hi"));
    for (const piece of ["Look:\n[IMA", "GE:a.", "png]\nNice", ", isn't it?\n```\n[IMAGE:a.png]\n```"]) {
      await pen.say(piece);
      await made.pass(1_000);
    }
    await pen.end();
    await until(() => chat.sent.length === 2);
    expect(chat.edits.map(({ text }) => text)).toEqual([
      "Look:\nNice",
      "Look:\nNice, isn't it?\n```\n[IMAGE:a.png]\n```",
      "Look:\nNice, isn't it?\n```\n[IMAGE:a.png]\n```",
    ]);
    expect(chat.sent.map(({ text, files = [] }) => [text, files.length])).toEqual([
      ["Look:", 0],
      ["", 1],
    ]);
  });
});

describe("a platform in trouble", () => {
  test("is asked again when it says so, not sooner, and is told what is newest then", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    const busy = () => Promise.reject(new SvcError("DELIVERY_FAILED", undefined, { retryAfterMs: 7_000 }));
    chat.mood = busy;
    await made.receive(said("hi"));
    await pen.say("1");
    await made.pass(1_000);
    chat.mood = () => undefined;
    await made.pass(6_500);
    expect(chat.sent).toEqual([]);
    await pen.say("2");
    await made.pass(500);
    expect(chat.shown).toEqual(["12"]);
    chat.editMood = busy;
    await pen.say("3");
    await made.pass(1_000);
    chat.editMood = () => undefined;
    await made.pass(6_500);
    expect(chat.shown).toEqual(["12"]);
    await made.pass(500);
    expect(chat.shown).toEqual(["123"]);
    expect(made.log.lines.filter(({ level }) => level === "warn")).toHaveLength(1);
  });

  test("that may have taken the beginning is not sent it again, and the answer comes all the same", async () => {
    const { made, chat, pen } = writingHouse();
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
    const { made, chat, pen } = writingHouse();
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

  test("whose receipt has no id gets no edits", async () => {
    const { made, chat, pen } = writingHouse();
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

describe("a turn without an end", () => {
  test("that was killed goes on with the same message", async () => {
    const home = temporaryHome();
    const before = writingHouse();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say("Hel");
    await before.made.pass(1_000);
    afterKill(before.made.folder, home.path);
    const { made, pen } = writingHouse({ folder: home.path, chat });
    using _next = made;
    await quiet();
    await pen.say("Good");
    await made.pass(1_000);
    expect([chat.shown, chat.sent.length]).toEqual([["Good"], 1]);
    await pen.say(" day.");
    await pen.end();
    expect([chat.shown, chat.sent.length, made.row(1).state]).toEqual([["Good day."], 1, "done"]);
    home.remove();
  });

  test("that was killed when its answer was kept and not yet sent edits it all the same", async () => {
    const home = temporaryHome();
    const before = writingHouse();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say("Hel");
    await before.made.pass(1_000);
    chat.editMood = () => new Promise(() => {});
    await before.pen.say("lo");
    await before.pen.end();
    afterKill(before.made.folder, home.path);
    chat.editMood = () => undefined;
    using made = writingHouse({ folder: home.path, chat }).made;
    await quiet();
    expect([chat.shown, chat.sent.length, made.row(1).state]).toEqual([["Hello"], 1, "done"]);
    home.remove();
  });

  test("that is called off by a shutdown goes on with it in the next process", async () => {
    const home = temporaryHome();
    const before = writingHouse();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say("Hel");
    await before.made.pass(1_000);
    const gate = Promise.withResolvers<void>();
    chat.editMood = () => gate.promise;
    await before.pen.say("lo");
    await before.made.pass(1_000);
    const stopped = before.made.messaging.stop(0);
    await before.made.pass(1_000);
    await stopped;
    gate.resolve();
    afterKill(before.made.folder, home.path);
    chat.editMood = () => undefined;
    const { made, pen } = writingHouse({ folder: home.path, chat });
    using _next = made;
    await quiet();
    expect(made.row(1)).toMatchObject({ attempts: 0, draft: "chat-1" });
    await pen.say("Hello.");
    await pen.end();
    expect([chat.shown, chat.sent.length]).toEqual([["Hello."], 1]);
    home.remove();
  });

  test("that fails for good says so in its place", async () => {
    const { made, chat, pen } = writingHouse({ config: { model: { max_retries: 0 } } });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    await pen.fail(status(400));
    expect(chat.shown).toEqual(["Sorry, this message could not be answered: the model provider refused the request."]);
    expect([chat.sent.length, made.row(1).state]).toEqual([1, "failed"]);
  });

  test("that the process died of says so in its place too", async () => {
    const home = temporaryHome();
    const before = writingHouse();
    using _ = before.made;
    const { chat } = before;
    await before.made.receive(said("hi"));
    await before.pen.say("Hel");
    await before.made.pass(1_000);
    afterKill(before.made.folder, home.path);
    for (let deaths = 1; deaths < 5; deaths += 1) {
      using made = writingHouse({ folder: home.path, chat }).made;
      await quiet();
      expect(made.row(1).attempts).toBe(deaths);
      afterKill(home.path, before.made.folder);
      afterKill(before.made.folder, home.path);
    }
    using made = writingHouse({ folder: home.path, chat }).made;
    await quiet();
    expect(made.row(1)).toMatchObject({ state: "failed", error: "TURN_CRASHED" });
    expect([chat.shown.length, chat.shown[0]]).toEqual([1, expect.stringMatching(/^Sorry, .*could not be answered/)]);
    home.remove();
  });

  test("that is tried again later leaves it, and goes on with it", async () => {
    const { made, chat, pen } = writingHouse({ config: { model: { max_retries: 0 } } });
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    await pen.fail(status(503));
    expect([chat.shown, made.row(1)]).toMatchObject([["Hel"], { state: "waiting", attempts: 1, draft: "chat-1" }]);
    await made.pass(2_000);
    await pen.say("Hello.");
    await pen.end();
    expect([chat.shown, chat.sent.length]).toEqual([["Hello."], 1]);
  });

  test.each(["stopped", "dropped"])("that is %s leaves what was written", async (how) => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    await pen.say("lo");
    if (how === "stopped") await made.receive(said("/stop"));
    else await made.messaging.mailbox.drop("in-1");
    await quiet();
    await made.pass(60_000);
    expect(chat.shown).toEqual(how === "stopped" ? ["Hel", "Stopped."] : ["Hel"]);
    expect([chat.edits, made.row(1).state, made.clock.waiting]).toEqual([
      [],
      how === "stopped" ? "done" : "dropped",
      0,
    ]);
  });

  test("that is stopped from elsewhere leaves it, and says so behind it", async () => {
    const { made, chat, pen } = writingHouse();
    using _ = made;
    await made.receive(said("hi"));
    await pen.say("Hel");
    await made.pass(1_000);
    const [session] = made.agent.sessions.list({}, 1);
    made.agent.sessions.cancel(session!.id);
    await quiet();
    expect(chat.shown).toEqual(["Hel", "This message will not be answered: its turn was stopped."]);
  });
});

describe("a disk that is full", () => {
  /** Refuses whatever is written while it is full. */
  const filling = () => {
    const disk = { isFull: false };
    const made = writingHouse({
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
  const { made, chat, pen } = writingHouse();
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
