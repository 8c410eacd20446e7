// What the platform was told that we have, it never sends again: nothing may be acknowledged before it is on disk, and nothing may
// be lost where a connection ends.
import { slackCommand, slackMention, slackMessageEvent, slackPress } from "@svc/testkit/platforms/slack/events";
import { SLACK_BOT, slackDmOf } from "@svc/testkit/platforms/slack/workspace";
import { describe, expect, test } from "vitest";
import { NOW_MS, PERSON } from "./fixture.ts";
import { aWhile, listening } from "./listening.ts";

const texts = ({ kept }: { readonly kept: readonly { readonly text: string }[] }): string[] =>
  kept.map(({ text }) => text);
const say = (text: string, id: string) => slackMessageEvent({ id, text, from: PERSON, atMs: NOW_MS });

describe("an envelope", () => {
  test("is acknowledged once what is in it is on disk, and not before", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    const gate = Promise.withResolvers<void>();
    at.hold(gate.promise);
    const { id } = at.slack.socket.send("events_api", say("Hello", "m1"));
    // Anyone who acknowledges too early has done so by then.
    await aWhile();
    expect(at.slack.socket.acknowledged).toEqual([]);
    gate.resolve();
    await at.until(() => at.slack.socket.acknowledged.length > 0);
    expect([at.slack.socket.acknowledged, texts(at)]).toEqual([[id], ["Hello"]]);
    expect(at.slack.socket.faults).toEqual([]);
  });

  test("that can't be kept is tried again, acknowledged then, and what came later stays behind it", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    at.refuse(3);
    const ids = ["one", "two", "three"].map((text) => at.slack.socket.send("events_api", say(text, text)).id);
    await at.until(() => at.kept.length === 3, 100);
    await at.until(() => at.slack.socket.acknowledged.length === 3);
    expect([texts(at), at.slack.socket.acknowledged]).toEqual([["one", "two", "three"], ids]);
  });

  test("that can't be kept for half a minute ends the connection, unacknowledged", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    at.refuse(100);
    at.slack.socket.send("events_api", say("Hello", "m1"));
    await expect(at.until(() => false, 1_000)).rejects.toThrow("run is over");
    expect(await at.over).toMatchObject({ code: "STORE_FULL" });
    expect([at.slack.socket.acknowledged, at.slack.socket.waiting.length]).toEqual([[], 1]);
  });

  test("that comes again is kept once, and acknowledged again", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    const gate = Promise.withResolvers<void>();
    at.hold(gate.promise);
    at.slack.socket.send("events_api", say("Hello", "m1"));
    gate.resolve();
    await at.until(() => at.slack.socket.acknowledged.length === 1);
    at.slack.socket.send("events_api", say("Hello", "m1"));
    await at.until(() => at.slack.socket.acknowledged.length === 2);
    expect([texts(at), at.duplicates.length]).toEqual([["Hello"], 1]);
  });

  test("of a mention and of its message are one question", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    const message = {
      id: "m1",
      text: `<@${SLACK_BOT.user}> Hello`,
      from: PERSON,
      atMs: NOW_MS,
      channel: "C0GENERAL",
      kind: "channel",
    } as const;
    at.slack.socket.send("events_api", slackMention(message));
    at.slack.socket.send("events_api", slackMessageEvent(message));
    await at.until(() => at.slack.socket.acknowledged.length === 2);
    expect(at.kept).toHaveLength(1);
  });

  test("in another order than things were written in is kept as it comes", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    for (const [id, text] of [
      ["1780272003.000100", "third"],
      ["1780272001.000100", "first"],
      ["1780272002.000100", "second"],
    ] as const) {
      at.slack.socket.send("events_api", say(text, id));
    }
    await at.until(() => at.kept.length === 3);
    expect(texts(at)).toEqual(["third", "first", "second"]);
  });

  test("with a press or a command is read", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    const button = { label: "Approve", actionId: "svc-approve", blockId: "b", value: "svc-prompt:ap-1:yes" };
    at.slack.socket.send(
      "interactive",
      slackPress({ from: PERSON, channel: slackDmOf(PERSON), ts: "1780272000.000100", button, atMs: NOW_MS, id: "p" }),
    );
    at.slack.socket.send("slash_commands", slackCommand({ from: PERSON, command: "/svc", text: "new", id: "c" }));
    await at.until(() => at.slack.socket.acknowledged.length === 2);
    expect(at.kept).toMatchObject([{ choice: { prompt: "ap-1", approved: true } }, { text: "/new" }]);
    expect(at.slack.socket.faults).toEqual([]);
  });

  test("that says nothing to us is acknowledged all the same", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    at.slack.socket.send("interactive", { type: "view_closed" });
    at.slack.socket.send("slash_commands", null);
    at.slack.socket.send("events_api", { type: "event_callback", event: { type: "app_home_opened" } });
    await at.until(() => at.slack.socket.acknowledged.length === 3);
    expect(at.kept).toEqual([]);
  });

  test.each([
    "",
    "x",
    "null",
    "[]",
    "7",
    '{"type":7}',
    "{}",
    '{"type":"events_api"}',
    '{"type":"events_api","envelope_id":"e","payload":null}',
    '{"type":"events_api","envelope_id":"e","payload":{"event":{"type":"error"}}}',
    '{"type":"events_api","envelope_id":"e","payload":{"event":{"type":"disconnected"}}}',
    '{"type":"slash_commands","envelope_id":7}',
    '{"type":"error"}',
    '{"type":"disconnected","envelope_id":"e"}',
    "[".repeat(100_000),
  ])("that is none, %s, is nothing to stop for", async (frame) => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    at.slack.socket.babble(frame);
    at.slack.socket.babble(Buffer.from(frame));
    at.slack.socket.send("events_api", say("Hello", "m1"));
    await at.until(() => at.kept.length === 1);
    expect(at.slack.socket.connections).toBe(1);
  });
});

describe("a connection that the platform wants to end", () => {
  test.each(["warning", "refresh_requested", "link_disabled"] as const)(
    "for %s is followed by another before it ends, and nothing is lost or kept twice",
    async (reason) => {
      await using at = await listening();
      const { socket } = at.slack;
      await socket.opened(1);
      const expected: string[] = [];
      const write = (): void => {
        const text = `Message ${expected.length}`;
        expected.push(text);
        socket.send("events_api", say(text, text));
      };
      write();
      socket.askToLeave(reason);
      // Over the old one, which still brings what was on its way.
      write();
      await at.until(() => socket.connections === 2, 100);
      for (let times = 0; times < 4; times += 1) write();
      socket.dropOldest();
      await at.until(() => socket.connections === 1);
      write();
      await at.until(() => at.kept.length === expected.length);
      // What could not be acknowledged over a connection that had ended comes again, and is known.
      for (let lap = 0; lap < 300; lap += 1) await new Promise((resolve) => setImmediate(resolve));
      socket.sendAgain();
      await at.until(() => socket.waiting.length === 0);
      expect([texts(at).toSorted(), socket.faults]).toEqual([expected.toSorted(), []]);
    },
  );

  test("is ended by us if the platform forgets to", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    at.slack.socket.askToLeave("warning");
    await at.slack.socket.opened(1);
    await at.until(() => at.slack.socket.connections === 2, 100);
    await at.until(() => at.slack.socket.connections === 1, 200);
    expect(at.slack.socket.faults).toEqual([]);
  });

  test("again and again is not followed without a pause", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    for (let times = 2; times < 6; times += 1) {
      const before = at.clock.now();
      at.slack.socket.askToLeave("refresh_requested");
      const { called } = at.slack;
      const opened = () => called.filter((name) => name === "apps.connections.open").length;
      await at.until(() => opened() >= times, 100);
      await at.slack.socket.opened(times);
      expect(at.clock.now() - before).toBeGreaterThanOrEqual(900);
      at.slack.socket.dropOldest();
      await at.until(() => at.slack.socket.connections === 1, 100);
    }
  });
});
