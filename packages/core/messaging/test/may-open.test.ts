// A telephone that rings because a question was answered elsewhere, or because an answer came after its call was over.
import { expect, test } from "vitest";
import { SENT_BY_PERSON } from "../src/outbox.ts";
import { deliveryFixture, quiet, say } from "./delivery-fixture.ts";

test.each([
  ["what the agent sends by channel_send", { key: "t-1:call-1:1", turnId: "t-1" }, true],
  ["what a person sends", { key: `${SENT_BY_PERSON}9f:1` }, true],
  ["an answer", { replyData: { call: "1" }, turnId: "t-1" }, undefined],
  ["an answer that can't be given", { replyData: { call: "1" }, turnId: "t-1", key: "failed:t-1:1" }, undefined],
  ["an answer of a channel that knows of no calls", { turnId: "t-1" }, undefined],
  ["the end of a question", { key: "approval-end:7:[]" }, undefined],
  ["a notice", {}, undefined],
])("%s says so, or does not", async (_, row, mayOpen) => {
  using agentFixture = deliveryFixture();
  await agentFixture.post(say("room", "hello", row));
  await quiet();
  expect(agentFixture.chat.asked).toMatchObject([{ text: "hello" }]);
  expect(agentFixture.chat.asked[0]!.mayOpen).toBe(mayOpen);
});
