// A phone that rings unasked, twice, or for no one; a callee who is heard although no one allowed it; a question that can't be
// answered by a key.
import { describe, expect, test } from "vitest";
import { failure, fixture, never, NUMBER, PERSON, STRANGER } from "./fixture.ts";

const to = (id: string) => ({ conversation: { channel: "voice_call", id } });
const decided = { mayOpen: true } as const;

describe("a call that is placed", () => {
  test("says the text, hears the callee, and is a conversation", async () => {
    await using at = await fixture();
    const receipt = await at.channel.send(at.message("Your train leaves at **six**.", decided), never);
    const phone = at.platform.phoneOf(PERSON);
    expect(receipt).toEqual({ platformId: phone.sid });
    expect(phone.call).toMatchObject({ status: "ringing", to: PERSON, from: NUMBER, timeLimitSecs: 600 });
    await phone.answers();
    await phone.hears("listening");
    expect(phone.texts).toEqual(["Your train leaves at six."]);
    await phone.says("Thanks, from which platform?");
    expect(at.inbound).toMatchObject([
      {
        id: `${phone.sid}.1`,
        sender: PERSON,
        conversation: to(PERSON).conversation,
        replyData: { call: phone.sid, turn: 1 },
      },
    ]);
    await at.channel.send(at.answer("From platform nine."), never);
    await phone.hears("listening");
    await phone.hangsUp();
    expect(phone.texts).toEqual(["Your train leaves at six.", "From platform nine."]);
    expect(at.updates.map(({ status }) => status)).toEqual(["sent", "sent", "delivered", "delivered"]);
    expect(new Set(at.updates.map(({ platformId }) => platformId))).toEqual(new Set([phone.sid]));
    expect([at.platform.sent.length, at.platform.warnings]).toEqual([1, []]);
  });

  test("to somebody who may not call says the text and hangs up; nothing of theirs is heard", async () => {
    await using at = await fixture();
    await at.channel.send(at.message("Your parcel is here.", { ...to(STRANGER), ...decided }), never);
    const phone = at.platform.phoneOf(STRANGER);
    await phone.answers();
    expect(await phone.says("Who is that?")).toBe(false);
    await phone.hears("over");
    expect([phone.texts, at.inbound, at.platform.warnings]).toEqual([["Your parcel is here."], [], []]);
    expect(at.platform.sent[0]!.twiml).not.toMatch(/Gather|Record/);
  });

  test("says all parts of a long text, to who may not answer too", async () => {
    await using at = await fixture();
    const parts = Array.from({ length: 3 }, (_, n) => `Part ${n}. ${"And so on. ".repeat(35)}`.trim());
    await at.channel.send(at.message(parts[0]!, { ...to(STRANGER), ...decided }), never);
    const phone = at.platform.phoneOf(STRANGER);
    const rest = (async () => {
      for (const part of parts.slice(1))
        await at.channel.send(at.message(part, { ...to(STRANGER), ...decided }), never);
    })();
    await phone.answers();
    await phone.hears("over");
    await rest;
    expect([phone.texts, at.platform.sent.length]).toEqual([parts, 1]);
  });

  test.each([
    ["is busy", "busy", "The line was busy."],
    ["is not answered", "no-answer", "The call was not answered."],
  ])("that %s is a message that was not delivered", async (_, status, reason) => {
    await using at = await fixture();
    await at.channel.send(at.message("Hello.", decided), never);
    const phone = at.platform.phoneOf(PERSON);
    const behind = failure(at.channel.send(at.message("And goodbye.", decided), never));
    if (status === "busy") await phone.isBusy();
    else await phone.waits(31_000);
    expect(at.updates.at(-1)).toEqual({ platformId: phone.sid, status: "failed", reason });
    expect(await behind).toMatchObject({ code: "DELIVERY_REFUSED", message: reason });
    expect(at.context.log.text()).toContain(status);
  });

  test.each(["busy", "no-answer", "hang-up"])(
    "that ends by %s rings nobody again for the rest of the message",
    async (how) => {
      await using at = await fixture();
      const part = (n: number) => at.message(`Part ${n}. ${"And so on. ".repeat(35)}`, decided);
      await at.channel.send(part(1), never);
      const phone = at.platform.phoneOf(PERSON);
      const second = failure(at.channel.send(part(2), never));
      if (how === "busy") await phone.isBusy();
      else if (how === "no-answer") await phone.waits(31_000);
      else {
        await phone.answers();
        await phone.waits(3_000);
        await phone.hangsUp();
      }
      expect(await second).toMatchObject({ code: "DELIVERY_REFUSED" });
      for (const rest of [part(3), at.message("The end.", decided)]) {
        expect(await failure(at.channel.send(rest, never))).toMatchObject({ code: "DELIVERY_REFUSED" });
      }
      expect(at.platform.sent).toHaveLength(1);
      // What comes after that is another message.
      await at.channel.send(at.message("Something else.", decided), never);
      expect(at.platform.sent).toHaveLength(2);
    },
  );

  test("waits for a voicemail's greeting where that is wanted", async () => {
    await using at = await fixture({ section: { detect_voicemail: true, ring_secs: 45, max_call_secs: 120 } });
    await at.channel.send(at.message("Hello.", decided), never);
    const form = new URLSearchParams(Buffer.from(at.platform.requests.at(-1)!.body).toString());
    expect(Object.fromEntries(form)).toMatchObject({
      MachineDetection: "DetectMessageEnd",
      Timeout: "45",
      TimeLimit: "120",
    });
    expect(form.getAll("StatusCallbackEvent")).toEqual(["initiated", "ringing", "answered", "completed"]);
  });

  test("to a number with spaces goes to that number, and answers come from it", async () => {
    await using at = await fixture();
    const receipt = await at.channel.send(at.message("Hi.", { ...to("+1 (555) 123-4567"), ...decided }), never);
    expect(receipt.opened).toEqual({ channel: "voice_call", id: PERSON });
    expect(at.platform.sent[0]!.to).toBe(PERSON);
  });

  test.each(["", "bob", "555123", "+0123456789", "sip:bob@example.org", "../+15551234567", "anonymous"])(
    "to %j is refused without a request",
    async (id) => {
      await using at = await fixture();
      const error = await failure(at.channel.send(at.message("Hi.", { ...to(id), ...decided }), never));
      expect(error.code).toBe("DELIVERY_REFUSED");
      expect(at.platform.requests).toEqual([]);
    },
  );
});

describe("nobody is rung up", () => {
  test("for an answer, a question or a notice that nobody decided on", async () => {
    await using at = await fixture();
    for (const more of [{}, { replyData: { call: `CA${"0".repeat(32)}`, turn: 1 } }, { replyData: { other: 1 } }]) {
      expect(await failure(at.channel.send(at.message("Hello.", more), never))).toMatchObject({
        code: "DELIVERY_REFUSED",
      });
    }
    expect(at.platform.sent).toEqual([]);
  });

  test("but for whom the config says that notices go to", async () => {
    await using at = await fixture({ section: { notification_target: "+1 555 123 4567" } });
    await at.channel.send(at.message("The disk is full."), never);
    expect(at.platform.sent).toMatchObject([{ to: PERSON, text: "The disk is full." }]);
    expect(await failure(at.channel.send(at.message("Hello.", to(STRANGER)), never))).toMatchObject({
      code: "DELIVERY_REFUSED",
    });
  });

  test("while a call with them goes on: it is said in that", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Remind me of the train");
    await at.channel.send(at.message("It is six.", decided), never);
    await phone.hears("listening");
    expect([phone.texts.at(-1), at.platform.sent]).toEqual(["It is six.", []]);
  });

  test("twice, when the answer of the platform is lost, in this process or another", async () => {
    for (const hasDied of [false, true]) {
      await using at = await fixture();
      const message = at.message("Hello.", decided);
      at.platform.mood = "loses answers";
      expect((await failure(at.channel.send(message, never))).code).toMatch(/^REMOTE_/);
      at.platform.mood = "takes";
      if (hasDied) at.restart();
      const { platformId } = await at.channel.send(message, never);
      expect([at.platform.sent.length, platformId]).toEqual([1, at.platform.sent[0]!.sid]);
      expect(await at.channel.send(message, never)).toEqual({ platformId });
      // Another message is another call, once that one is over.
      await at.platform.phoneOf(PERSON).isBusy();
      await at.channel.send(at.message("Hello again.", decided), never);
      expect(at.platform.sent).toHaveLength(2);
    }
  });

  test("for a message of which another call is taken by mistake", async () => {
    await using at = await fixture();
    const first = at.message("One.", decided);
    await at.channel.send(first, never);
    await at.platform.phoneOf(PERSON).isBusy();
    at.platform.mood = "resets";
    const second = at.message("Two.", decided);
    await failure(at.channel.send(second, never));
    at.platform.mood = "takes";
    // The call that is there is the first one's: this one was never placed.
    await at.channel.send(second, never);
    expect(at.platform.sent.map(({ text }) => text)).toEqual(["One.", "Two."]);
  });

  test("when nobody can remember that they were", async () => {
    const state = { get: async () => undefined, set: () => Promise.reject(new Error("the disk is full")) };
    await using at = await fixture({ state: { ...state, delete: async () => false, list: async () => [] } });
    await expect(at.channel.send(at.message("Hello.", decided), never)).rejects.toThrow("the disk is full");
    expect(at.platform.sent).toEqual([]);
  });
});

describe("what the platform refuses", () => {
  test.each([
    [[401, 20003], "CHANNEL_UNAUTHORIZED", /auth token is wrong/],
    [[403, 20003], "CHANNEL_UNAUTHORIZED", /auth token is wrong/],
    [[400, 21211], "DELIVERY_REFUSED", /no phone number that can be called/],
    [[400, 21215], "DELIVERY_REFUSED", /may not call this country/],
    [[400, 21219], "DELIVERY_REFUSED", /verified numbers only/],
    [[400, 21210], "DELIVERY_REFUSED", /may not call from from_number/],
    [[404, 20404], "DELIVERY_REFUSED", /knows no such call/],
    [[429, 20429], "DELIVERY_FAILED", /Too many requests/],
    [[400, 99999], "DELIVERY_REFUSED", /status 400 \(error 99999\)/],
    [[500, 20500], "DELIVERY_FAILED", /status 500/],
  ] as const)("%j is %s", async ([status, code], expected, sentence) => {
    await using at = await fixture();
    at.platform.failNext([status, code]);
    const error = await failure(at.channel.send(at.message("Hello.", decided), never));
    expect([error.code, error.message]).toEqual([expected, expect.stringMatching(sentence)]);
  });

  test("too often is told with the time to wait", async () => {
    await using at = await fixture();
    at.platform.mood = { rateLimits: 9 };
    const error = await failure(at.channel.send(at.message("Hello.", decided), never));
    expect([error.code, error.retryAfterMs]).toEqual(["DELIVERY_FAILED", 9_000]);
  });

  test("was placed by nobody: the next try is a call", async () => {
    await using at = await fixture();
    const message = at.message("Hello.", decided);
    for (const [status, code] of [
      [401, 20003],
      [429, 20429],
    ] as const) {
      at.platform.failNext([status, code]);
      await failure(at.channel.send(message, never));
    }
    await at.channel.send(message, never);
    expect(at.platform.sent).toHaveLength(1);
  });
});
