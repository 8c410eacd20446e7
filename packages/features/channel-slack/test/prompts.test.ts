// A question that no one can answer, or that can be answered twice, holds up what waits for it.
import type { Prompt } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { fixtureAndPlatform, message, never, PERSON } from "./fixture.ts";

const DM = `D${PERSON.slice(1)}`;
const PROMPT: Prompt = {
  id: "ap-12",
  title: "Deploy?",
  message: "To production.",
  approve: "Approve",
  reject: "Reject",
};
const WORDS = message("Deploy *v2* <!channel>?\n> Answer: approve #12");

describe("a question", () => {
  test("is one message with two buttons, as the platform documents it, its words as they are", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    const receipt = await opened.channel.prompts.post(WORDS, PROMPT, never);
    const [sent, ...others] = opened.slack.sent;
    expect(others).toEqual([]);
    expect(receipt).toEqual({ platformId: `${DM}:${sent!.message.ts}` });
    expect(sent?.text).toBe(WORDS.text);
    const said =
      "Deploy <!date^00000000^{_}|*>v2<!date^00000000^{_}|*> &lt;!channel&gt;?\n\u00AD&gt; Answer: approve #12";
    expect(sent?.message.text).toBe(said);
    expect(sent?.message.blocks).toEqual([
      { type: "section", text: { type: "mrkdwn", text: said, verbatim: true } },
      {
        type: "actions",
        elements: [
          {
            type: "button",
            text: { type: "plain_text", text: "Approve", emoji: false },
            action_id: "svc-approve",
            value: "svc-prompt:ap-12:yes",
            style: "primary",
          },
          {
            type: "button",
            text: { type: "plain_text", text: "Reject", emoji: false },
            action_id: "svc-reject",
            value: "svc-prompt:ap-12:no",
            style: "danger",
          },
        ],
      },
    ]);
  });

  test("in a channel opens a thread, in which an answer needs no mention", async () => {
    await using opened = await fixtureAndPlatform({ mode: "events" });
    opened.slack.workspace.add({ id: "C0GENERAL", kind: "channel", name: "general" });
    const receipt = await opened.channel.prompts.post(
      { ...WORDS, conversation: { channel: "slack", id: "#general" } },
      PROMPT,
      never,
    );
    const { ts } = opened.slack.sent[0]!.message;
    expect(receipt.opened).toEqual({ channel: "slack", id: "C0GENERAL", thread: ts });
  });

  test.each([
    ["a label of 75", { approve: "a".repeat(75) }, 2],
    ["a label of 76", { approve: "a".repeat(76) }, 0],
    ["a blank label", { reject: " " }, 0],
  ])("with %s is asked", async (_, more, buttons) => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    await opened.channel.prompts.post(WORDS, { ...PROMPT, ...more }, never);
    expect(opened.slack.sent[0]?.buttons).toHaveLength(buttons);
  });

  test.each([
    [3000, "x", 2],
    [3001, "x", 0],
    [600, "&", 2],
    [601, "&", 0],
  ])("of %i times %j is asked", async (length, char, buttons) => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    await opened.channel.prompts.post(message(char.repeat(length)), PROMPT, never);
    expect(opened.slack.sent.map((sent) => [sent.text.length, sent.buttons.length])).toEqual([[length, buttons]]);
  });
});

describe("a question that is settled", () => {
  test("has no buttons any more, and says how it ended", async () => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    const { platformId } = await opened.channel.prompts.post(WORDS, PROMPT, never);
    await opened.channel.prompts.close?.({ ...WORDS, platformId }, "Approved by *ada*", never);
    expect(opened.slack.sent).toMatchObject([{ text: `${WORDS.text}\n\nApproved by *ada*`, buttons: [] }]);
  });

  test.each(["x", "&", "日", "*a* "])("however long it is with %j, says how it ended", async (unit) => {
    await using opened = await fixtureAndPlatform();
    opened.slack.workspace.dm(PERSON);
    const { platformId } = await opened.channel.prompts.post(message("Deploy?"), PROMPT, never);
    const text = unit.repeat(4000 / unit.length);
    await opened.channel.prompts.close?.({ ...WORDS, platformId, text }, "Approved by ada", never);
    expect(opened.slack.sent[0]?.text.endsWith("\n\nApproved by ada")).toBe(true);
  });

  test("of which nothing is known is left alone", async () => {
    await using opened = await fixtureAndPlatform();
    for (const platformId of [undefined, "", "x", "C0GENERAL:now"]) {
      await opened.channel.prompts.close?.({ ...WORDS, platformId }, "Approved", never);
    }
    expect(opened.slack.requests).toEqual([]);
  });
});
