// A press that is taken for another's answer, or a command that is taken for a message, does what no one asked for.
import type { Inbound, Json } from "@svc/contract";
import { slackCommand, slackEvent, slackPress } from "@svc/testkit/platforms/slack/events";
import { SLACK_BOT, slackDmOf } from "@svc/testkit/platforms/slack/workspace";
import { describe, expect, test } from "vitest";
import { NOW_MS, parsed, PERSON, STRANGER } from "./fixture.ts";

const CHANNEL = "C0GENERAL";
const TS = "1780272000.000100";
const PARENT = "1780271000.000100";

const one = (payload: Json, section = {}): Inbound | undefined => {
  const { inbound = [] } = parsed(payload, section);
  expect(inbound.length).toBeLessThanOrEqual(1);
  return inbound[0];
};

describe("a reaction", () => {
  const reaction = (type: string, more: Record<string, Json> = {}): Json =>
    slackEvent(
      {
        type,
        user: PERSON,
        reaction: "thumbsup",
        item: { type: "message", channel: CHANNEL, ts: TS },
        event_ts: "1780272001.000200",
        ...more,
      },
      NOW_MS,
    );

  test("is recorded", () => {
    expect(one(reaction("reaction_added"))).toEqual({
      kind: "reaction",
      id: `reaction_added:${CHANNEL}:${TS}:${PERSON}:thumbsup:1780272001.000200`,
      conversation: { channel: "slack", id: CHANNEL },
      sender: PERSON,
      text: ":thumbsup:",
      sentAtMs: NOW_MS + 1000,
    });
    expect(one(reaction("reaction_removed"))).toMatchObject({ kind: "reaction", text: "" });
  });

  test.each([
    { user: SLACK_BOT.user },
    { user: STRANGER },
    { item: { type: "file", file: "F0FILE123" } },
    { reaction: "" },
  ])("with %j is not", (more) => {
    expect(one(reaction("reaction_added", more as Record<string, Json>))).toBeUndefined();
  });
});

describe("a press", () => {
  const press = (value: string, more: Record<string, unknown> = {}): Json =>
    ({
      ...(slackPress({
        from: PERSON,
        channel: slackDmOf(PERSON),
        ts: TS,
        button: { label: "Approve", actionId: "svc-approve", blockId: "b1", value },
        atMs: NOW_MS,
        id: "press-1",
      }) as Record<string, Json>),
      ...more,
    }) as Json;

  test("says which question it answers, and how, where it was asked", () => {
    expect(one(press("svc-prompt:ap-12:yes"))).toMatchObject({
      choice: { prompt: "ap-12", approved: true },
      text: "Approve",
      sender: PERSON,
      conversation: { id: slackDmOf(PERSON) },
    });
    expect(one(press("svc-prompt:ap-12:no"))).toMatchObject({ choice: { approved: false } });
  });

  test("in a channel belongs to the thread that the question opened, or was asked in", () => {
    const at = (thread?: string) =>
      press("svc-prompt:ap-12:yes", {
        channel: { id: CHANNEL },
        message: { ts: TS, ...(thread && { thread_ts: thread }) },
      });
    expect(one(at())?.conversation).toEqual({ channel: "slack", id: CHANNEL, thread: TS });
    expect(one(at(PARENT))?.conversation).toEqual({ channel: "slack", id: CHANNEL, thread: PARENT });
    expect(one(at(), { thread_replies: false })?.conversation).toEqual({ channel: "slack", id: CHANNEL });
  });

  test.each([
    "ap-12:yes",
    "svc-prompt::yes",
    "svc-prompt:ap-12:YES",
    "svc-prompt:ap 12:yes",
    `svc-prompt:${"a".repeat(33)}:yes`,
    "svc-prompt:ap-12:yes\nx",
  ])("on a button of another's making, %j, is none", (value) => {
    expect(one(press(value))).toBeUndefined();
  });

  test("of a stranger is not heard", () => {
    expect(one(press("svc-prompt:ap-12:yes", { user: { id: STRANGER } }))).toBeUndefined();
  });
});

describe("a command", () => {
  const command = (text: string, name = "/svc"): Json => slackCommand({ from: PERSON, command: name, text, id: "c1" });

  test.each([
    ["new", "/svc", "/new"],
    ["model fast", "/svc", "/model fast"],
    ["/stop", "/svc", "/stop"],
    ["Status", "/svc", "/Status"],
    ["", "/svc", "/help"],
    ["how are &lt;you&gt;?", "/svc", "how are <you>?"],
    ["newest things", "/svc", "newest things"],
    ["", "/new", "/new"],
    ["fast", "/model", "/model fast"],
  ])("%j of %s is %j", (text, name, said) => {
    expect(one(command(text, name))).toMatchObject({
      text: said,
      conversation: { id: slackDmOf(PERSON) },
      sender: PERSON,
    });
  });

  test("is known by its trigger, so that one that is delivered again is one", () => {
    expect(one(command("new"))?.id).toBe(one(command("new"))?.id);
    expect(one(command("new"))?.id).toMatch(/^command:/);
  });
});
