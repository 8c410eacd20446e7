// A message of the agent's own in a turn that is killed: sent twice, not at all, or said to be nobody knows what.
import { temporaryHome } from "@svc/testkit/temporary-home";
import { expect, test } from "vitest";
import type { Store } from "@svc/store";
import { channelSendTool } from "../src/index.ts";
import { call, text } from "@svc/agent/agent-fixture";
import {
  afterKill,
  messagingFixture,
  type MessagingFixture,
  type MessagingFixtureOptions,
  quiet,
  said,
  type Think,
} from "./messaging-fixture.ts";

/** Sends one message, then says what it was told of it. */
const think: Think = ({ prompt }) => {
  const { role, content } = prompt.at(-1)!;
  if (role !== "tool") return [call("channel_send", { channel: "chat", to: "friend", text: "ping" })];
  return [text(JSON.stringify((content as { output: object }[])[0]!.output))];
};

function sendingFixture(options: MessagingFixtureOptions): MessagingFixture {
  const made: MessagingFixture = messagingFixture({
    think,
    tools: [channelSendTool(() => made.messaging.channelSend)],
    settings: { targetsOf: () => ({ allowed: ["friend"], notification: undefined }) },
    ...options,
  });
  return made;
}

test.each([
  ["before the message was on disk", "send"],
  ["before its result was", "finish"],
] as const)("killed %s: it is sent once, and the agent is told so", async (_, when) => {
  const target = temporaryHome();
  let kills = 0;
  const killedAt = (what: string): void => {
    if (what === when && kills++ === 0) afterKill(made.folder, target.path);
  };
  const wrap = (store: Store): Store => {
    const { outbox, toolCalls } = store;
    const [add, finish] = [outbox.add.bind(outbox), toolCalls.finish.bind(toolCalls)];
    outbox.add = (...args) => (killedAt("send"), add(...args));
    toolCalls.finish = (...args) => (killedAt("finish"), finish(...args));
    return store;
  };
  using made: MessagingFixture = sendingFixture({ wrap });
  await made.receive(said("tell my friend"));
  expect(kills).toBeGreaterThan(0);
  using next = sendingFixture({ folder: target.path });
  expect(next.store.toolCalls.of(next.row(1).turnId)).toMatchObject([{ state: "interrupted" }]);
  await quiet();
  expect(next.chat.taken.toSorted()).toEqual([
    "ping",
    expect.stringMatching(/^\{"type":"json","value":\{"message":"out-1","state":"(waiting|sent)"\}\}$/),
  ]);
  expect(next.model.asked).toHaveLength(1);
  target.remove();
});
