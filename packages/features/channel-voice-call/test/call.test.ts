// A whole telephone call: what the caller hears, in which order, whole and once; what the agent is told; and how it ends.
import { describe, expect, test } from "vitest";
import { failure, fixture, never, PERSON, STRANGER } from "./fixture.ts";

const GREETING = "Hello. How can I help you?";

describe("a call", () => {
  test("is greeted, heard, answered and goes on; what is said becomes the caller's conversation", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON, { CallerName: "ANN EXAMPLE" });
    expect([phone.doing, phone.call.status]).toEqual(["saying", "in-progress"]);
    await phone.hears("listening");
    expect(await phone.says("What is the weather like?")).toBe(true);
    expect(at.inbound).toEqual([
      {
        id: `${phone.sid}.1`,
        conversation: { channel: "voice_call", id: PERSON },
        sender: PERSON,
        senderName: "ANN EXAMPLE",
        text: "What is the weather like?",
        sentAtMs: expect.any(Number),
        replyData: { call: phone.sid, turn: 1 },
      },
    ]);
    expect(phone.doing).toBe("pausing");
    expect(await at.channel.send(at.answer("It is sunny."), never)).toEqual({});
    await phone.hears("listening");
    expect(phone.texts).toEqual([GREETING, "It is sunny."]);
    await phone.says("Thank you, and tomorrow?");
    await at.channel.send(at.answer("It will rain."), never);
    await phone.hears("listening");
    await phone.hangsUp();
    expect(phone.heard.map(({ text, cut }) => [text, cut])).toEqual([
      [GREETING, undefined],
      ["It is sunny.", undefined],
      ["It will rain.", undefined],
    ]);
    expect(at.inbound.map(({ id, text }) => [id, text])).toEqual([
      [`${phone.sid}.1`, "What is the weather like?"],
      [`${phone.sid}.2`, "Thank you, and tomorrow?"],
    ]);
    expect([at.platform.warnings, at.platform.sent, phone.call.status]).toEqual([[], [], "completed"]);
    expect(at.context.log.text()).toContain("a call is over");
  });

  test("of a stranger is refused without a word, and told to the log once", async () => {
    await using at = await fixture();
    for (let time = 0; time < 2; time += 1) {
      const phone = await at.platform.ring(STRANGER);
      expect([phone.doing, phone.texts, phone.call.answeredMs]).toEqual(["over", [], undefined]);
    }
    expect(at.inbound).toEqual([]);
    expect(at.context.log.text().match(/not on the allowlist/g)).toHaveLength(1);
    expect([at.platform.warnings, at.notices]).toEqual([[], []]);
  });

  test("another day goes on with the same conversation, in another call", async () => {
    await using at = await fixture();
    for (let time = 0; time < 2; time += 1) {
      const phone = await at.platform.ring(PERSON);
      await phone.hears("listening");
      await phone.says("Hello again, it is me");
      await phone.hangsUp();
    }
    const [first, second] = at.inbound;
    expect(second!.conversation).toEqual(first!.conversation);
    expect(second!.id).not.toBe(first!.id);
    expect(second!.replyData).not.toEqual(first!.replyData);
  });
});

describe("what the caller hears", () => {
  test("of a long answer is all of its parts, in order, whole and once, with hardly a pause", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Tell me a story");
    const parts = Array.from({ length: 4 }, (_, n) => `Part ${n}. ${"It goes on. ".repeat(30)}`.trim());
    const sent = (async () => {
      for (const part of parts) await at.channel.send(at.answer(part), never);
    })();
    for (let n = 1; n < parts.length + 1; n += 1) {
      await until(() => phone.doing === "saying");
      await phone.hears("listening");
      // What follows is there when the second of silence is over.
      await phone.waits(1_250);
    }
    await sent;
    await phone.hears("listening");
    expect(phone.texts).toEqual([GREETING, ...parts]);
    expect(phone.heard.some(({ cut }) => cut !== undefined)).toBe(false);
    expect(at.platform.warnings).toEqual([]);
  });

  test("while an answer takes long is one filler, then silence, and the answer interrupts no word", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Think hard about it");
    await phone.waits(4_250);
    expect([phone.doing, phone.texts]).toEqual(["saying", [GREETING]]);
    // It is sent while the filler is being said: it waits for the end of it.
    const sent = at.channel.send(at.answer("Forty-two."), never);
    await phone.hears("listening");
    await sent;
    expect(phone.heard.slice(1)).toEqual([
      { text: "One moment, please.", by: "voice" },
      { text: "Forty-two.", by: "voice" },
    ]);
  });

  test("after the filler is held for minutes, and no answer is late", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Ask somebody who is slow");
    await phone.waits(120_000);
    expect(phone.doing).toBe("pausing");
    await at.channel.send(at.answer("They said yes."), never);
    await phone.hears("listening");
    expect(phone.texts).toEqual([GREETING, "One moment, please.", "They said yes."]);
  });

  test("who interrupts an answer is not told the rest of it, and the rest is said to be unsaid", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Read me the list");
    const first = at.inbound[0]!;
    await at.channel.send(at.answer(`One. ${"And so on. ".repeat(35)}`), never);
    await phone.waits(2_000);
    expect(phone.doing).toBe("saying");
    const rest = failure(at.channel.send(at.answer("Two.", first), never));
    expect(await phone.says("Stop, that is enough")).toBe(true);
    expect(await rest).toMatchObject({ code: "DELIVERY_REFUSED", message: expect.stringContaining("began to speak") });
    expect(await failure(at.channel.send(at.answer("Three.", first), never))).toMatchObject({
      code: "DELIVERY_REFUSED",
    });
    await at.channel.send(at.answer("All right."), never);
    await phone.hears("listening");
    expect(phone.heard.map(({ cut }) => cut)).toEqual([undefined, "caller", undefined]);
    expect(phone.texts.at(-1)).toBe("All right.");
  });

  test("who says nothing is asked once more, then left", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON);
    await phone.hears("over");
    expect(phone.texts).toEqual([GREETING, "Are you still there?", "Goodbye."]);
    expect(phone.call.status).toBe("completed");
    expect(at.inbound).toEqual([]);
  });

  test("nobody is asked whether they are there while they wait for an answer", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Buy it");
    // A question in between, which is no one's answer: they are silent, and the agent goes on.
    await at.channel.send(at.message("By the way, it is raining."), never);
    await phone.waits(30_000);
    expect(phone.texts).toEqual([GREETING, "By the way, it is raining.", "One moment, please."]);
    expect(phone.doing).toBe("pausing");
    await at.channel.send(at.answer("Bought."), never);
    await phone.hears("listening");
    expect(phone.texts.at(-1)).toBe("Bought.");
  });

  test("at the end of the longest call is goodbye, and the answer that comes later is not said to anybody", async () => {
    await using at = await fixture({ section: { max_call_secs: 30 } });
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Think about it");
    await phone.hears("over");
    expect(phone.texts).toEqual([GREETING, "One moment, please.", "Goodbye."]);
    expect(at.clock.monotonic()).toBeLessThan(45_000);
    expect(await failure(at.channel.send(at.answer("I know it now."), never))).toMatchObject({
      code: "DELIVERY_REFUSED",
      message: expect.stringContaining("The call is over"),
    });
    expect(at.platform.sent).toEqual([]);
  });

  test("ends at the platform too when its time is over, whatever we do; and how it ended is told", async () => {
    await using at = await fixture({ section: { max_call_secs: 40 } });
    at.platform.number.statusCallback = undefined;
    const phone = await at.platform.ring(PERSON);
    await at.followUp();
    expect(phone.call).toMatchObject({ timeLimitSecs: 40, statusCallback: `${at.base}/voice-call/status` });
    await phone.hears("listening");
    await phone.hangsUp();
    expect(at.context.log.text()).toContain("a call is over");
    // A notice may come again, and its call be over by then; or the platform does not let us choose.
    await at.followUp();
    at.platform.failNext([400, 20001]);
    await at.followUp();
  });
});

/** In another task of this process: what happens there tells no one. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
