// A connection that has ended without a word is a bot that no one is answered by: it must be noticed, told, and made anew, and
// no one but the platform may be connected to.
import { slackMessageEvent } from "@svc/testkit/platforms/slack/events";
import { describe, expect, test } from "vitest";
import { NOW_MS, PERSON, platform } from "./fixture.ts";
import { aWhile, listening } from "./listening.ts";

const say = (text: string, id: string) => slackMessageEvent({ id, text, from: PERSON, atMs: NOW_MS });

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
    await at.until(() => at.fixture.context.log.lines.length > 0);
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
  await aWhile();
  const stopped = at.stop();
  expect(await Promise.race([stopped.then(() => "over"), at.over])).toBeUndefined();
  await at.slack.close();
});
