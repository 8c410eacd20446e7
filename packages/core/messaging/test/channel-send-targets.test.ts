// An agent that was talked into it writes to strangers: whom it may write to is the config's word, and that of those who wrote
// to it; no autonomy lifts that, and nobody is asked for a yes that must not be given.
import type { Json } from "@svc/contract";
import { keyOfConversation } from "@svc/kit";
import { describe, expect, test } from "vitest";
import { channelSendTool, type ChannelTargets } from "../src/index.ts";
import { type AskPerson, callTool } from "@svc/agent";
import { call, client, text } from "@svc/agent/agent-fixture";
import { messagingFixture, type MessagingFixture, quiet, said } from "./messaging-fixture.ts";

const NO_TARGETS: ChannelTargets = { allowed: [], notification: undefined };

/** Sends one message to each, then says what it was told of them. */
function fixtureSendingTo(inputs: readonly object[], targets: ChannelTargets = NO_TARGETS): MessagingFixture {
  const made: MessagingFixture = messagingFixture({
    think: ({ prompt }) => {
      const { role, content } = prompt.at(-1)!;
      if (role === "tool") return [text(JSON.stringify(content))];
      return inputs.map((input, n) => ({
        ...call("channel_send", { channel: "chat", text: "ping", ...input }),
        toolCallId: `c${n}`,
      }));
    },
    tools: [channelSendTool(() => made.messaging.channelSend)],
    settings: { targetsOf: () => targets },
  });
  return made;
}

const sentTo = ({ store }: MessagingFixture): (string | undefined)[] =>
  store.outbox
    .list({}, 100)
    .toReversed()
    .filter((delivery) => delivery.text === "ping")
    .map(({ conversation: { id, thread } }) => [id, thread].filter((part) => part !== undefined).join("/"));

/** Of somebody who writes from `room`, in a thread or not. */
async function askedIn(made: MessagingFixture, room: string, thread?: string): Promise<void> {
  const message = said("do it");
  await made.receive({ ...message, conversation: { ...message.conversation, id: room, ...(thread && { thread }) } });
  await quiet();
}

describe("the agent may write to", () => {
  test.each<[string, ChannelTargets, string]>([
    ["who is listed", { allowed: ["a", " friend "], notification: undefined }, "friend"],
    [
      "a number that is listed, however it is written",
      { allowed: ["+49 (170) 123-45"], notification: undefined },
      "4917012345",
    ],
    [
      "a number as it is listed without its plus",
      { allowed: ["4917012345"], notification: undefined },
      "+49 170 123 45",
    ],
    ["anybody, when * is listed", { allowed: ["*"], notification: undefined }, "whoever"],
    ["where notifications go", { allowed: [], notification: "operations" }, "operations"],
  ])("%s", async (_, targets, to) => {
    using made = fixtureSendingTo([{ to }, { to, thread: "t" }], targets);
    await askedIn(made, "somewhere");
    expect(sentTo(made)).toEqual([to, `${to}/t`]);
  });

  test("the conversation that it is asked in, on its first turn, in each of its threads", async () => {
    using made = fixtureSendingTo([{ to: "room" }, { to: "room", thread: "t1" }, { to: "room", thread: "t2" }]);
    await askedIn(made, "room", "t1");
    expect(sentTo(made)).toEqual(["room", "room/t1", "room/t2"]);
  });

  test("who has written before, also when the conversation was begun anew since; numbers however they are written", async () => {
    using made = fixtureSendingTo([{ to: "early" }, { to: "4917012345" }]);
    await askedIn(made, "early");
    await askedIn(made, "+4917012345");
    expect(sentTo(made)).toEqual(["early", "early", "4917012345"]);
    const owner = "channel chat" as typeof client;
    const conversationKey = keyOfConversation({ channel: "chat", id: "early" });
    await made.store.write(() => expect(made.store.sessions.putAside(owner, conversationKey)).toBe(true));
    await askedIn(made, "late");
    expect(sentTo(made).slice(3)).toEqual(["early", "4917012345"]);
  });
});

describe("the agent may not write to", () => {
  test.each<[string, ChannelTargets, string]>([
    ["who is not listed", { allowed: ["friend"], notification: "operations" }, "friends"],
    [
      "a group whose id looks like somebody's, but for its sign",
      { allowed: ["100123"], notification: undefined },
      "-100123",
    ],
    ["another spelling of what is no number", { allowed: ["a b"], notification: undefined }, "ab"],
    ["an id of digits that are grouped otherwise", { allowed: ["1.23"], notification: undefined }, "123"],
    ["a name that shares its prefix with a known person", NO_TARGETS, "somewhere else"],
    ["a name that is a prefix of a known person", NO_TARGETS, "some"],
    ["a name that continues like a conversation key", NO_TARGETS, 'somewhere","t'],
    ["everybody, as the target is called", { allowed: [], notification: undefined }, "*"],
  ])("%s: it is told the rule and the key, and nothing is kept", async (_, targets, to) => {
    using made = fixtureSendingTo([{ to }], targets);
    await askedIn(made, "somewhere");
    expect(sentTo(made)).toEqual([]);
    const [answer] = made.chat.taken;
    expect(answer).toContain("TOOL_REFUSED");
    expect(answer).toContain("channels_config.chat.allowed_targets");
  });

  test("somebody who wrote on another channel only", async () => {
    using made = fixtureSendingTo([{ to: "room" }]);
    const parts = made.messaging.channelSend;
    await askedIn(made, "room");
    expect(sentTo(made)).toEqual(["room"]);
    const tool = channelSendTool(() => ({ ...parts, channels: new Map([["mail", made.chat]]) }));
    const refuse = (channel: string): string | undefined =>
      tool.refuses!({ channel, to: "room" }, { turnId: "t", callId: "c" });
    expect(refuse("mail")).toContain("channels_config.mail.allowed_targets");
  });
});

/** One call by itself; `ask` answers in place of a person. */
function calledBy(made: MessagingFixture, verdict: "refuse" | "ask" | "allow", ask: AskPerson) {
  const tools = [channelSendTool(() => made.messaging.channelSend)];
  const { environment } = made.set({ tools, verdict }).profiles.get("default")!;
  return callTool(environment, {
    turnId: "t",
    callId: "c",
    clientId: client,
    name: "channel_send",
    input: JSON.stringify({ channel: "chat", to: "friend", text: "ping" }),
    ask,
    signal: new AbortController().signal,
  });
}

const REFUSED = { ok: false, acted: false, output: expect.stringMatching(/^TOOL_REFUSED: .*allowed_targets/) as Json };

test.each(["refuse", "ask", "allow"] as const)(
  "a policy that says %s does not lift it, and nobody is asked",
  async (verdict) => {
    using made = fixtureSendingTo([]);
    const asked: unknown[] = [];
    const ask: AskPerson = async (question) => {
      asked.push(question);
      return { approved: true };
    };
    expect(await calledBy(made, verdict, ask)).toMatchObject(REFUSED);
    expect(asked).toEqual([]);
  },
);

test("a yes that was given while the target was taken off the list is too late", async () => {
  const targets = { allowed: ["friend"], notification: undefined };
  using made = fixtureSendingTo([], targets);
  const ask: AskPerson = async () => {
    targets.allowed = [];
    return { approved: true };
  };
  expect(await calledBy(made, "ask", ask)).toMatchObject(REFUSED);
  expect(sentTo(made)).toEqual([]);
});
