// A question that can't be answered by a key, or only before its asker has gone on; a phone that rings because of one.
import { describe, expect, test } from "vitest";
import { failure, fixture, never, PERSON } from "./fixture.ts";

describe("a question", () => {
  const prompt = {
    id: "ap-7",
    title: "Approval needed (#7)",
    message: "Asked for by ann:\n> buy **milk**",
    approve: "Approve",
    reject: "Reject",
  };
  const section = { notification_target: PERSON };

  test.each([
    ["1", true, "Approve"],
    ["2", false, "Reject"],
  ])("is answered by the key %s", async (key, approved, text) => {
    await using at = await fixture({ section });
    await at.channel.prompts!.post(at.message("Approval needed, in words."), prompt, never);
    const phone = at.platform.phoneOf(PERSON);
    await phone.answers();
    await phone.hears("listening");
    expect(phone.texts).toEqual([
      "Approval needed (#7)\nAsked for by ann:\nbuy milk\nPress 1 for Approve, or 2 for Reject.",
    ]);
    expect(await phone.presses(key)).toBe(true);
    expect(at.inbound).toMatchObject([{ text, choice: { prompt: "ap-7", approved }, sender: PERSON }]);
    await at.channel.send(at.answer("It is settled."), never);
    await phone.hears("listening");
    expect(phone.texts.at(-1)).toBe("It is settled.");
  });

  test("is answered by words too, without the marks of the recogniser", async () => {
    await using at = await fixture({ section });
    await at.channel.prompts!.post(at.message("In words."), prompt, never);
    const phone = at.platform.phoneOf(PERSON);
    await phone.answers();
    await phone.hears("listening");
    await phone.says("Yes.");
    expect(at.inbound).toMatchObject([{ text: "Yes" }]);
    expect(at.inbound[0]!.choice).toBeUndefined();
  });

  test("is asked again of who presses another key", async () => {
    await using at = await fixture({ section });
    await at.channel.prompts!.post(at.message("In words."), prompt, never);
    const phone = at.platform.phoneOf(PERSON);
    await phone.answers();
    await phone.hears("listening");
    await phone.presses("7");
    expect([at.inbound, phone.doing]).toEqual([[], "listening"]);
    expect(await phone.presses("1")).toBe(true);
    expect(at.inbound).toMatchObject([{ choice: { prompt: "ap-7", approved: true } }]);
  });

  test("in the middle of a call is asked there", async () => {
    await using at = await fixture();
    const phone = await at.platform.ring(PERSON);
    await phone.hears("listening");
    await phone.says("Buy some milk for me");
    await at.channel.prompts!.post(at.message("In words."), prompt, never);
    // Who thinks about it is listened to all the same.
    await phone.waits(60_000);
    expect(await phone.presses("1")).toBe(true);
    expect(at.inbound.at(-1)).toMatchObject({ choice: { approved: true }, replyData: { call: phone.sid, turn: 2 } });
    await at.channel.send(at.answer("It is settled."), never);
    await phone.waits(30_000);
    expect(phone.doing).toBe("pausing");
    // The answer to what was asked first is an answer all the same, however late.
    await at.channel.send(at.answer("Bought.", at.inbound[0]), never);
    await phone.hears("listening");
    expect([phone.texts.at(-1), at.platform.sent]).toEqual(["Bought.", []]);
  });

  test("rings nobody up when its call is over", async () => {
    await using at = await fixture();
    const asking = at.channel.prompts!.post(at.message("In words."), prompt, never);
    expect(await failure(asking)).toMatchObject({ code: "DELIVERY_REFUSED" });
    expect(at.platform.sent).toEqual([]);
  });

  test("that is too long is read out in words", async () => {
    await using at = await fixture({ section });
    const long = { ...prompt, message: "x ".repeat(400) };
    await at.channel.prompts!.post(at.message("Answer with yes or no."), long, never);
    expect(at.platform.sent[0]!.text).toBe("Answer with yes or no.");
  });
});
