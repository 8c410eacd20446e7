// A sign that stays where no one is at it any more, or that is asked for where it is missing, is worse than no sign.
import { describe, expect, test } from "vitest";
import { failure, fixtureAndPlatform, never, PERSON } from "./fixture.ts";

const CHANNEL = "C0GENERAL";

async function asked(section = {}) {
  const opened = await fixtureAndPlatform(section);
  const ts = opened.slack.write({ text: "Hello", from: PERSON, atMs: 0, channel: CHANNEL, kind: "channel" });
  const conversation = { channel: "slack", id: CHANNEL, thread: ts };
  const reactions = (): string[] => [...opened.slack.workspace.conversations.get(CHANNEL)!.messages[0]!.reactions];
  return { ...opened, ts, id: `${CHANNEL}:${ts}`, conversation, reactions };
}

describe("a message that is answered", () => {
  test("has the reaction as long as that takes", async () => {
    const { slack, channel, conversation, id, reactions } = await asked();
    await using _ = slack;
    await channel.readMarks.mark(conversation, id, never);
    expect(reactions()).toEqual(["eyes U0B0TUSER"]);
    await channel.readMarks.clear?.(conversation, id, never);
    expect(reactions()).toEqual([]);
  });

  test("that has it already, or no more, is no error", async () => {
    const { slack, channel, conversation, id } = await asked();
    await using _ = slack;
    for (let time = 0; time < 2; time += 1) await channel.readMarks.mark(conversation, id, never);
    for (let time = 0; time < 2; time += 1) await channel.readMarks.clear?.(conversation, id, never);
    expect(slack.called).toHaveLength(4);
  });

  test.each([
    ["hourglass", "hourglass U0B0TUSER"],
    [":+1:", "+1 U0B0TUSER"],
  ])("has the one of the section, %s", async (ack_reaction, reaction) => {
    const { slack, channel, conversation, id, reactions } = await asked({ ack_reaction });
    await using _ = slack;
    await channel.readMarks.mark(conversation, id, never);
    expect(reactions()).toEqual([reaction]);
  });

  test("has none where the section says so", async () => {
    const { slack, channel } = await asked({ ack_reaction: "" });
    await using _ = slack;
    expect(channel).not.toHaveProperty("readMarks");
  });

  test("by a command or a press has none: there is nothing to put it on", async () => {
    const { slack, channel, conversation } = await asked();
    await using _ = slack;
    for (const id of ["command:1.2.3", `press:${CHANNEL}:1780272000.000100:${PERSON}:1780272000.000200`, ""]) {
      await channel.readMarks.mark(conversation, id, never);
    }
    expect(slack.requests).toEqual([]);
  });

  test("that is gone is told as such", async () => {
    const { slack, channel, conversation } = await asked();
    await using _ = slack;
    const gone = channel.readMarks.mark(conversation, `${CHANNEL}:1780272000.000100`, never);
    expect(await failure(gone)).toMatchObject({ code: "DELIVERY_REFUSED" });
  });
});

describe("that somebody is at it", () => {
  test("is shown in threads, and asked for nowhere else", async () => {
    const { slack, channel, conversation, ts } = await asked();
    await using _ = slack;
    await channel.typing.start(conversation, undefined, never);
    expect(slack.statuses).toEqual([`${CHANNEL} ${ts} is thinking…`]);
    await channel.typing.start({ channel: "slack", id: CHANNEL }, undefined, never);
    await channel.typing.start({ channel: "slack", id: PERSON, thread: ts }, undefined, never);
    expect(slack.called).toHaveLength(1);
    expect(channel.typing.lastsMs).toBeLessThan(120_000);
  });

  test("is not asked for again where the platform has no such sign", async () => {
    const { slack, channel, conversation } = await asked();
    await using _ = slack;
    slack.refusals.set("assistant.threads.setStatus", "channel_not_found");
    expect(await failure(channel.typing.start(conversation, undefined, never))).toMatchObject({
      code: "DELIVERY_REFUSED",
    });
    await channel.typing.start(conversation, undefined, never);
    expect(slack.called).toHaveLength(1);
  });

  test("is asked for again after a fault", async () => {
    const { slack, channel, conversation } = await asked();
    await using _ = slack;
    slack.refusals.set("assistant.threads.setStatus", "internal_error");
    await failure(channel.typing.start(conversation, undefined, never));
    slack.refusals.clear();
    await channel.typing.start(conversation, undefined, never);
    expect(slack.statuses).toHaveLength(1);
  });
});
