// What the platform was told that we have, it never sends again: nothing may be acknowledged before it is on disk, and nothing may
// be lost where a connection ends.
import { SLACK_BOT, slackCommand, slackDmOf, slackMention, slackMessageEvent, slackPress } from "@svc/testkit";
import { describe, expect, test } from "vitest";
import { NOW_MS, PERSON, platform } from "./house.ts";
import { listening } from "./listening.ts";

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
    // Whoever acknowledges too early has done so by then.
    for (let lap = 0; lap < 200; lap += 1) await new Promise((resolve) => setImmediate(resolve));
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
    await at.until(() => at.slack.socket.connections === 1, 1_000);
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

describe("run is over, to be started again,", () => {
  test("when the connection is lost", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    at.slack.socket.drop();
    expect(await at.over).toMatchObject({ code: "REMOTE_UNREACHABLE" });
  });

  test("when nothing is heard and no ping is answered", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    await at.until(() => at.house.context.log.lines.length > 0);
    at.slack.socket.mood = "deaf";
    await at.until(() => at.clock.waiting > 0);
    for (let times = 0; times < 5; times += 1) await at.clock.advance(10_000);
    expect(await at.over).toMatchObject({ code: "REMOTE_TIMEOUT" });
  });

  test("when the platform does not say hello", async () => {
    const slack = await platform();
    slack.socket.mood = "silent";
    await using at = await listening({ slack });
    await slack.socket.opened(1);
    await at.clock.advance(30_000);
    expect(await at.over).toMatchObject({ code: "REMOTE_TIMEOUT" });
  });

  test("when the platform has as many connections as it takes, or has a fault", async () => {
    for (const word of ["internal_error", "ratelimited", "something_new"]) {
      const slack = await platform();
      slack.refusals.set("apps.connections.open", word);
      await using at = await listening({ slack });
      expect(await at.over).toMatchObject({ code: "REMOTE_UNREACHABLE" });
    }
  });

  test.each(["https://evil.example/link", "ftp://x/", "not a url", undefined])(
    "when it tells the address %s",
    async (url) => {
      const slack = await platform();
      slack.mood = ({ path }) =>
        path.endsWith("apps.connections.open") ? { babbles: JSON.stringify({ ok: true, url }) } : "takes";
      await using at = await listening({ slack });
      expect(await at.over).toMatchObject({ name: "SvcError" });
    },
  );
});

test("no address is connected to that was not looked at: a private one is refused", async () => {
  const slack = await platform();
  const other = await platform();
  slack.mood = ({ path }) =>
    path.endsWith("apps.connections.open")
      ? { babbles: JSON.stringify({ ok: true, url: other.socket.ticket() }) }
      : "takes";
  await using at = await listening({ slack });
  expect(await at.over).toMatchObject({ code: "ADDRESS_REFUSED" });
  expect(other.requests).toEqual([]);
  await other.close();
});

test("it connects to the address that was looked at, and not to what the name leads to a moment later", async () => {
  const slack = await platform();
  const asked: string[] = [];
  slack.mood = ({ path }) =>
    path.endsWith("apps.connections.open")
      ? { babbles: JSON.stringify({ ok: true, url: slack.socket.ticket().replace("127.0.0.1", "socket.invalid") }) }
      : "takes";
  await using at = await listening({
    slack,
    resolve: async (url) => {
      asked.push(new URL(url).hostname);
      return ["127.0.0.1"];
    },
  });
  await slack.socket.opened(1);
  await at.until(() => slack.socket.connections === 1);
  expect(asked).toEqual(["socket.invalid"]);
  expect(slack.requests.find(({ path }) => path === "/link/")?.headers["host"]).toContain("socket.invalid");
});

describe("run is over for good", () => {
  test.each(["invalid_auth", "not_authed", "account_inactive", "token_revoked", "not_allowed_token_type"])(
    "when the app token is refused with %s",
    async (word) => {
      const slack = await platform();
      slack.refusals.set("apps.connections.open", word);
      await using at = await listening({ slack });
      const error = (await at.over) as Error;
      expect(error).toMatchObject({ code: "FEATURE_FAILED" });
      expect(error.message).toMatch(/^[A-Z].*\.$/);
    },
  );

  test("when the bot token is", async () => {
    await using at = await listening({ section: { bot_token: "xoxb-another" } });
    expect(await at.over).toMatchObject({ code: "FEATURE_FAILED" });
    expect(at.slack.called).toEqual(["auth.test"]);
  });
});

test("stopping ends it at once, in the middle of whatever it is at", async () => {
  const at = await listening();
  await at.slack.socket.opened(1);
  at.hold(new Promise(() => undefined));
  at.slack.socket.send("events_api", say("Hello", "m1"));
  for (let lap = 0; lap < 50; lap += 1) await new Promise((resolve) => setImmediate(resolve));
  const stopped = at.stop();
  expect(await Promise.race([stopped.then(() => "over"), at.over])).toBeUndefined();
  await at.slack.close();
});
