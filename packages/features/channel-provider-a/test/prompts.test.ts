// A question that no one can answer: refused by the platform for its buttons, or answered with the opposite of what was pressed.
import type { Prompt } from "@svc/contract";
import { describe, expect, test } from "vitest";
import { harnessAndPlatform, message, never, parsed, PERSON } from "./harness.ts";

const PROMPT: Prompt = {
  id: "ap-12",
  title: "Deploy?",
  message: "To production.",
  approve: "Approve",
  reject: "Reject",
};
const GROUP = "Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD";
const WORDS = message("Deploy? Answer: approve #12");

describe("a question", () => {
  test("is one message with two buttons, as the platform documents it", async () => {
    await using at = await harnessAndPlatform();
    const receipt = await at.channel.prompts.post(WORDS, PROMPT, never);
    const [sent, ...others] = at.platform.sent;
    expect([others, receipt]).toEqual([[], { platformId: sent?.messageId }]);
    expect(sent?.body).toEqual({
      messaging_product: "whatsapp",
      recipient_type: "individual",
      to: PERSON,
      biz_opaque_callback_data: "delivery-1",
      type: "interactive",
      interactive: {
        type: "button",
        body: { text: WORDS.text },
        action: {
          buttons: [
            { type: "reply", reply: { id: "svc-prompt:ap-12:yes", title: "Approve" } },
            { type: "reply", reply: { id: "svc-prompt:ap-12:no", title: "Reject" } },
          ],
        },
      },
    });
  });

  test.each([
    ["a label of 20", { approve: "a".repeat(20) }, "interactive"],
    ["a label of 21", { approve: "a".repeat(21) }, "text"],
    ["a blank label", { reject: " " }, "text"],
    ["two labels that are the same", { reject: "Approve" }, "text"],
  ])("with %s is taken", async (_, more, type) => {
    await using at = await harnessAndPlatform();
    await at.channel.prompts.post(WORDS, { ...PROMPT, ...more }, never);
    expect(at.platform.sent.map((sent) => sent.type)).toEqual([type]);
  });

  test.each([
    [1024, "interactive"],
    [1025, "text"],
  ])("of %i characters is taken", async (length, type) => {
    await using at = await harnessAndPlatform();
    await at.channel.prompts.post(message("x".repeat(length)), PROMPT, never);
    expect(at.platform.sent.map((sent) => [sent.type, sent.text.length])).toEqual([[type, length]]);
  });

  test("in a group, which has no buttons, is asked in words", async () => {
    await using at = await harnessAndPlatform();
    await at.channel.prompts.post({ ...WORDS, conversation: { channel: "provider_a", id: GROUP } }, PROMPT, never);
    expect(at.platform.sent.map(({ type, text }) => [type, text])).toEqual([["text", WORDS.text]]);
  });

  test("to a number as long as a group's id has buttons", async () => {
    await using at = await harnessAndPlatform();
    const id = `+${"1".repeat(20)}`;
    await at.channel.prompts.post({ ...WORDS, conversation: { channel: "provider_a", id } }, PROMPT, never);
    expect(at.platform.sent[0]?.buttons).toEqual(["Approve", "Reject"]);
  });
});

const pressed = (id: unknown, type = "button_reply") => {
  const interactive = { type, [type]: { id, title: "Approve" } };
  const messages = [{ from: "16505551234", id: "w", type: "interactive", interactive }];
  return parsed(JSON.stringify({ entry: [{ changes: [{ value: { messages } }] }] })).inbound?.[0];
};

describe("a press", () => {
  test("says which question it answers, and how", () => {
    expect(pressed("svc-prompt:ap-12:yes")).toMatchObject({ choice: { prompt: "ap-12", approved: true } });
    expect(pressed("svc-prompt:ap-12:no")).toMatchObject({ choice: { prompt: "ap-12", approved: false } });
  });

  test.each([
    "ap-12:yes",
    "svc-prompt::yes",
    "svc-prompt:ap-12:yes ",
    "svc-prompt:ap-12:YES",
    "svc-prompt:ap 12:yes",
    `svc-prompt:${"a".repeat(33)}:yes`,
    "svc-prompt:ap-12:yes\nsvc-prompt:ap-13:yes",
    12,
    null,
    { id: "svc-prompt:ap-12:yes" },
  ])("on a button of another's making, %j, answers nothing", (id) => {
    expect(pressed(id)).toMatchObject({ text: "Approve", secondHand: true });
    expect(pressed(id)).not.toHaveProperty("choice");
  });

  test("in a list is none", () => {
    expect(pressed("svc-prompt:ap-12:yes", "list_reply")).not.toHaveProperty("choice");
  });
});
