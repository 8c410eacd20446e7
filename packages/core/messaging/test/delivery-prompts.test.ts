// A question that is posted after it was answered, in two parts, without its buttons, or that opened what nobody remembers.
import type { Channel, OutgoingMessage, PostedPrompt, Prompt, Receipt } from "@svc/contract";
import { captureLogger } from "@svc/testkit/capture-logger";
import { fakeClock } from "@svc/testkit/fake-clock";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ClosingPrompts } from "../src/messaging.ts";
import { shortened } from "../src/outbox.ts";
import type { PromptSource } from "../src/index.ts";
import { deliveryFixture, down, platform, quiet, say, talk } from "./delivery-fixture.ts";
import { gate } from "@svc/agent/agent-fixture";

const prompt: Prompt = {
  id: "ap-7",
  title: "Deploy?",
  message: "To production.",
  approve: "Approve",
  reject: "Reject",
};
const question = (more = {}) => say("room", "Deploy? Answer yes or no.", { approval: 7, ...more });

/** One question, and what is noted of it. */
function source() {
  const posted: [number, number, Receipt][] = [];
  const state = { isWaiting: true };
  const prompts: PromptSource = {
    promptOf: (n) => (n === 7 ? { prompt, ...state, outcome: "approved by alice" } : undefined),
    posted: (...all) => void posted.push(all),
  };
  return Object.assign(state, { posted, prompts });
}

/** A platform with buttons. */
function buttons(receipt: Receipt = { platformId: "b-1" }) {
  const pressed: [OutgoingMessage, Prompt][] = [];
  const post: NonNullable<Channel["prompts"]>["post"] = async (message, asked) => {
    pressed.push([message, asked]);
    return receipt;
  };
  return { pressed, chat: platform({ prompts: { post } }) };
}

describe("a question", () => {
  test("is posted with its buttons, under its delivery id, and what it opened is noted with the end of the delivery", async () => {
    const opened = talk("room", "t-9");
    const { pressed, chat } = buttons({ platformId: "b-1", opened });
    const { posted, prompts } = source();
    using made = deliveryFixture({ chat, prompts });
    const [row] = await made.post(question());
    const { deliveryId } = row!;
    expect(pressed).toEqual([[{ conversation: talk("room"), text: "Deploy? Answer yes or no.", deliveryId }, prompt]]);
    expect(posted).toEqual([[7, row!.n, { platformId: "b-1", opened }]]);
    expect([chat.asked, made.row(1).state, made.row(1).platformId]).toEqual([[], "sent", "b-1"]);
    expect(made.events.map(({ type }) => type)).toEqual(["message-delivered"]);
  });

  test("goes out in words where there are no buttons", async () => {
    const { posted, prompts } = source();
    using made = deliveryFixture({ prompts });
    await made.post(question());
    expect([made.chat.taken, posted]).toEqual([
      ["Deploy? Answer yes or no."],
      [[7, 1, { platformId: "p-Deploy? Answer yes or no." }]],
    ]);
  });

  test("and nothing else has buttons", async () => {
    const { pressed, chat } = buttons();
    using made = deliveryFixture({ chat, prompts: source().prompts });
    await made.post(say("room", "hello"));
    expect([pressed, chat.taken]).toEqual([[], ["hello"]]);
  });

  test.each([
    ["answered", 7],
    ["gone", 8],
  ])("that is %s meanwhile is dropped without a word, and does not hold up what is behind it", async (_, approval) => {
    const asked = source();
    asked.isWaiting = false;
    using made = deliveryFixture({ prompts: asked.prompts });
    await made.post(question({ approval }), say("room", "next"));
    expect([made.chat.taken, made.row(1).state, made.row(2).state]).toEqual([["next"], "dropped", "sent"]);
    expect([asked.posted, made.events.map(({ type }) => type)]).toEqual([[], ["message-delivered"]]);
  });

  test("that failed and is answered before it is tried again is not tried again", async () => {
    const asked = source();
    using made = deliveryFixture({ prompts: asked.prompts });
    made.chat.mood = () => down();
    await made.post(question());
    asked.isWaiting = false;
    await made.clock.advance(2_000);
    await quiet();
    expect([made.chat.asked.length, made.row(1).state]).toEqual([1, "dropped"]);
  });

  test("of an earlier time is not posted when somebody replays it", async () => {
    const asked = source();
    asked.isWaiting = false;
    using made = deliveryFixture({ prompts: asked.prompts });
    await made.post(question());
    await made.store.write(() => made.store.outbox.reopen(1));
    made.dispatcher.wake([made.row(1)]);
    await quiet();
    expect([made.chat.asked, made.row(1).state]).toEqual([[], "dropped"]);
  });

  test("that is settled while it is being posted loses its buttons as soon as it has them", async () => {
    const { opened, open } = gate();
    const closed: [PostedPrompt, string][] = [];
    const asked = source();
    const chat = platform({ prompts: { post: () => opened.then(() => ({ platformId: "b-1" })) } });
    using made = deliveryFixture({ chat, prompts: asked.prompts, closePrompt: (...all) => void closed.push(all) });
    await made.post(question());
    asked.isWaiting = false;
    open();
    await quiet();
    expect(made.row(1).state).toBe("sent");
    const posted = { conversation: talk("room"), platformId: "b-1", text: "Deploy? Answer yes or no." };
    expect(closed).toEqual([[posted, "approved by alice"]]);
  });

  test("that is longer than the channel takes is cut, and is one message", async () => {
    const chat = platform({ text: { maxChars: 100 } });
    using made = deliveryFixture({ chat, prompts: source().prompts });
    await made.post(question({ text: "x".repeat(300) }));
    expect(chat.taken).toEqual([`${"x".repeat(99)}…`]);
  });

  test("whose posting is refused for good is a dead letter", async () => {
    const { chat } = buttons();
    Object.assign(chat.prompts!, { post: () => Promise.reject(new Error("a bug")) });
    const asked = source();
    using made = deliveryFixture({ chat, prompts: asked.prompts, settings: { maxAttempts: 1 } });
    await made.post(question());
    expect([made.row(1).state, asked.posted]).toEqual(["dead", []]);
  });
});

describe("a shortened text", () => {
  test("fits, begins as the whole one, and holds no half character", () => {
    const text = fc.string({ unit: fc.constantFrom("a", " ", "\u{1F600}", "é", "\n"), maxLength: 60 });
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 40 }), (whole, maxChars) => {
        const short = shortened(whole, maxChars);
        expect(short.length).toBeLessThanOrEqual(maxChars);
        expect(short.isWellFormed()).toBe(true);
        const isCut = short.endsWith("…") && whole.startsWith(short.slice(0, -1));
        expect(whole.length > maxChars ? isCut : short === whole).toBe(true);
      }),
    );
  });
});

describe("taking buttons off", () => {
  const posted = (id: string): PostedPrompt => ({ conversation: talk("room"), platformId: id, text: "?" });
  const agentFixture = (close: NonNullable<NonNullable<Channel["prompts"]>["close"]>) => {
    const [clock, log] = [fakeClock(), captureLogger()];
    const prompts = { post: () => Promise.reject(new Error("not here")), close };
    const chat: Channel = platform({ prompts });
    return {
      clock,
      log,
      closing: new ClosingPrompts({ clock, log, channelOf: (id) => (id === "chat" ? chat : undefined) }),
    };
  };

  test("is done one after the other, and goes on behind one that fails or hangs", async () => {
    const closed: string[] = [];
    const { clock, log, closing } = agentFixture(async ({ platformId }, outcome) => {
      if (platformId === "fails") throw new Error("words of the platform");
      if (platformId === "hangs") await new Promise(() => {});
      closed.push(`${platformId}: ${outcome}`);
    });
    for (const id of ["a", "fails", "hangs", "b"]) closing.add(posted(id), "approved");
    await quiet();
    expect(closed).toEqual(["a: approved"]);
    await clock.advance(30_000);
    await quiet();
    expect([closed, clock.waiting]).toEqual([["a: approved", "b: approved"], 0]);
    expect(log.text()).toContain("could not be taken off");
    expect(log.text()).not.toContain("words of the platform");
  });

  test("of a channel that is gone, or has none, is nothing", async () => {
    const { log, closing } = agentFixture(async () => {});
    closing.add({ ...posted("a"), conversation: { channel: "gone", id: "room" } }, "approved");
    await quiet();
    expect(log.text()).toBe("");
  });

  test("does not hold up a shutdown", async () => {
    const { clock, log, closing } = agentFixture(() => new Promise(() => {}));
    closing.add(posted("a"), "approved");
    await quiet();
    closing.stop();
    closing.add(posted("b"), "approved");
    await quiet();
    expect([clock.waiting, log.text()]).toEqual([0, ""]);
  });
});
