// Speech that is cut off, doubled or lost because a request failed, an answer got lost, a webhook came late or twice, the
// process ended in the middle of a call, or the call did.
import { describe, expect, test } from "vitest";
import { failure, fixture, type Fixture, never, NUMBER, PERSON } from "./fixture.ts";
import type { VoicePhone } from "@svc/testkit/platforms/voice-call/phone";

const GREETING = "Hello. How can I help you?";
const FILLER = "One moment, please.";

/** A call in which someone has asked something. */
async function asked(at: Fixture): Promise<VoicePhone> {
  const phone = await at.platform.ring(PERSON);
  await phone.hears("listening");
  await phone.says("What is the answer?");
  return phone;
}

const wholeAndOnce = (phone: VoicePhone): string[] => {
  expect(phone.heard.filter(({ cut }) => cut !== undefined && cut !== "caller")).toEqual([]);
  return phone.texts.filter((text) => text !== GREETING && text !== FILLER);
};

describe("an update of the call", () => {
  test("whose answer is lost is said once, and the next webhook tells that it was", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    at.platform.mood = "loses answers";
    const sent = at.channel.send(at.answer("Forty-two."), never);
    await phone.until("saying");
    await phone.hears("over");
    await sent;
    expect(wholeAndOnce(phone)).toEqual(["Forty-two.", "Are you still there?", "Goodbye."]);
  });

  test.each(["resets", { refuses: 503 }, { rateLimits: 60 }] as const)(
    "that the platform did not take (%j) is fetched by it some seconds later",
    async (mood) => {
      await using at = await fixture();
      const phone = await asked(at);
      at.platform.mood = mood;
      const sent = at.channel.send(at.answer("Forty-two."), never);
      await at.platform.arrived(0);
      await phone.waits(8_000);
      await sent;
      await phone.hears("listening");
      expect(wholeAndOnce(phone)).toEqual(["Forty-two."]);
    },
  );

  test("that is called off and tried again is said once, whether or not the platform had taken it", async () => {
    for (const mood of ["loses answers", "resets"] as const) {
      await using at = await fixture();
      const phone = await asked(at);
      const stop = new AbortController();
      const answer = at.answer("Forty-two.");
      at.platform.mood = mood;
      const first = failure(
        at.channel.send(answer, stop.signal).catch((error: unknown) => Promise.reject(Object(error))),
      ).catch((error: unknown) => error);
      await at.platform.arrived(0);
      await new Promise((resolve) => setImmediate(resolve));
      stop.abort(new Error("the time is over"));
      await first;
      at.platform.mood = "takes";
      const again = at.channel.send(answer, never);
      await phone.waits(15_000);
      await again;
      expect(wholeAndOnce(phone).filter((text) => text === "Forty-two.")).toHaveLength(1);
    }
  });

  test("with credentials that are refused fails, and is not said later behind anybody's back", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    at.platform.mood = { refuses: 401 };
    expect(await failure(at.channel.send(at.answer("Forty-two."), never))).toMatchObject({
      code: "CHANNEL_UNAUTHORIZED",
    });
    await phone.waits(30_000);
    expect(wholeAndOnce(phone)).toEqual([]);
  });

  test("of a call that is over refuses the answer, and rings nobody up", async () => {
    await using at = await fixture();
    at.platform.number.statusCallback = undefined;
    const phone = await asked(at);
    await phone.hangsUp();
    for (let time = 0; time < 2; time += 1) {
      expect(await failure(at.channel.send(at.answer("Forty-two."), never))).toMatchObject({
        code: "DELIVERY_REFUSED",
        message: expect.stringContaining("The call is over"),
      });
    }
    expect(at.platform.sent).toEqual([]);
    // The second time it is known.
    expect(at.platform.requests).toHaveLength(1);
  });
});

describe("a webhook", () => {
  /** Of the other side, as each webhook of the call says it. */
  const fieldsOf = (phone: VoicePhone) => ({ CallSid: phone.sid, Direction: "inbound", From: PERSON, To: NUMBER });
  const stepOf = (target: string): number => Number(new URL(target, "http://x").searchParams.get("step"));

  test("that comes twice is answered the same: what it told of is neither lost nor said twice", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    await at.channel.send(at.answer(`One. ${"And so on. ".repeat(35)}`), never);
    const rest = at.channel.send(at.answer("Two."), never);
    await phone.hears("listening");
    await phone.waits(1_250);
    await rest;
    const target = at.targets.at(-1)!;
    const again = await at.post(target, fieldsOf(phone));
    expect(again.body).toContain("Two.");
    expect(await at.post(target, fieldsOf(phone))).toEqual(again);
    await phone.hears("listening");
    expect(wholeAndOnce(phone).filter((text) => text === "Two.")).toHaveLength(1);
  });

  test("that comes late, of a pause while the answer was on its way, holds the line and changes nothing", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    const gate = Promise.withResolvers<void>();
    at.platform.mood = { slow: () => gate.promise };
    const sent = at.channel.send(at.answer(`Forty-two. ${"And so on. ".repeat(20)}`), never);
    await at.platform.arrived(0);
    // The line is held, second by second, until the platform has it.
    await phone.waits(8_000);
    const step = Math.max(...at.targets.map(stepOf));
    gate.resolve();
    await sent;
    await phone.until("saying");
    const late = await at.post(`/voice-call/next?step=${step + 1}&turn=2&hold=1&began=1&at=1`, fieldsOf(phone));
    expect(late.body).toMatch(/<Pause length="1"\/><Redirect/);
    const next = at.channel.send(at.message("And by the way."), never);
    await phone.hears("listening");
    await phone.waits(6_000);
    await next;
    await phone.hears("listening");
    expect(wholeAndOnce(phone)).toEqual([expect.stringMatching(/^Forty-two/), "And by the way."]);
    await phone.says("Thank you very much indeed");
    expect(at.inbound.map(({ id }) => id)).toEqual([`${phone.sid}.1`, `${phone.sid}.2`]);
  });

  test("of a call that is over, or of no call, is answered with nothing to do", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    await phone.hangsUp();
    expect((await at.post("/voice-call/next?step=999", fieldsOf(phone))).body).toContain(
      "<Response><Hangup/></Response>",
    );
    for (const target of ["/voice-call", "/voice-call/next", "/voice-call/speech", "/voice-call/status"]) {
      expect(await at.post(target, { CallSid: "CA1", From: PERSON })).toMatchObject({
        status: 200,
        body: expect.stringContaining("<Response/>"),
      });
    }
  });
});

describe("a hang-up", () => {
  test("while something is said is the end of what waits behind it", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    await at.channel.send(at.answer(`One. ${"And so on. ".repeat(35)}`), never);
    const rest = failure(at.channel.send(at.answer("Two."), never));
    await phone.hangsUp();
    expect(await rest).toMatchObject({ code: "DELIVERY_REFUSED" });
    expect(phone.heard.at(-1)).toMatchObject({ cut: "hangup" });
  });

  test("that nobody tells of is found out when something is to be said again", async () => {
    await using at = await fixture();
    at.platform.number.statusCallback = undefined;
    const phone = await asked(at);
    await at.channel.send(at.answer("Forty-two."), never);
    await phone.hears("listening");
    await phone.hangsUp();
    await at.clock.advance(60_000);
    expect(await failure(at.channel.send(at.answer("Or forty-three."), never))).toMatchObject({
      code: "DELIVERY_REFUSED",
    });
    expect(at.platform.sent).toEqual([]);
  });
});

describe("a process that ends in the middle of a call", () => {
  test("is followed by one that answers in it", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    at.restart();
    const sent = at.channel.send(at.answer("Forty-two."), never);
    await phone.hears("saying");
    await sent;
    await phone.hears("listening");
    expect(wholeAndOnce(phone)).toEqual(["Forty-two."]);
    await phone.says("And what is the question then?");
    expect(at.inbound.map(({ id }) => id)).toEqual([`${phone.sid}.1`, `${phone.sid}.2`]);
    await at.channel.send(at.answer("Nobody knows."), never);
    await phone.hears("listening");
    expect(wholeAndOnce(phone)).toEqual(["Forty-two.", "Nobody knows."]);
  });

  test("after the platform took an answer, and before that was kept, says it no second time", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    const answer = at.answer("Forty-two.");
    await at.channel.send(answer, never);
    at.restart();
    const again = at.channel.send(answer, never);
    await phone.hears("over");
    await again;
    expect(wholeAndOnce(phone)).toEqual(["Forty-two.", "Are you still there?", "Goodbye."]);
  });

  test("refuses an answer to a call that ended meanwhile", async () => {
    await using at = await fixture();
    const phone = await asked(at);
    await phone.hangsUp();
    at.restart();
    expect(await failure(at.channel.send(at.answer("Forty-two."), never))).toMatchObject({ code: "DELIVERY_REFUSED" });
  });

  test("does not forget how long the call has been", async () => {
    await using at = await fixture({ section: { max_call_secs: 60 } });
    const phone = await asked(at);
    await phone.waits(50_000);
    at.restart();
    await phone.waits(20_000);
    expect([phone.doing, phone.texts.at(-1)]).toEqual(["over", "Goodbye."]);
  });
});

test("a channel that is made anew hands what waits on to the next one", async () => {
  await using at = await fixture();
  const phone = await asked(at);
  await at.channel.send(at.answer("One."), never);
  const answer = at.answer("Two.");
  const waiting = failure(at.channel.send(answer, never));
  const shutDown = at.shutdown;
  at.restart();
  await shutDown();
  expect(await waiting).toMatchObject({ code: "DELIVERY_FAILED" });
  const again = at.channel.send(answer, never);
  await phone.hears("listening");
  await phone.waits(6_000);
  await again;
  expect(wholeAndOnce(phone)).toEqual(["One.", "Two."]);
});

test("what the service can't keep ends the call, and nothing was taken for heard", async () => {
  await using at = await fixture();
  const phone = await at.platform.ring(PERSON);
  await phone.hears("listening");
  at.isFull = () => true;
  await phone.says("Remember this");
  expect([phone.doing, at.inbound, at.platform.warnings[0]]).toEqual([
    "over",
    [],
    "11200: /voice-call/speech was answered 503",
  ]);
});
