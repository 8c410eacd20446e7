// Who sets the channel up must be told what is wrong with it, by the name it has on the platform's pages.
import { readFileSync } from "node:fs";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { BOT_EVENTS, BOT_SCOPES } from "../src/account.ts";
import { config } from "../src/config.ts";
import { failure, fixture, fixtureAndPlatform, never, SECTION } from "./fixture.ts";

describe("check", () => {
  test("tells who the bot is and where, and tries the app token", async () => {
    await using opened = await fixtureAndPlatform();
    expect(await opened.channel.check(never)).toBe("svc in Acme; Socket Mode is open");
    expect(opened.slack.called).toEqual(["auth.test", "apps.connections.open"]);
  });

  test("without a socket needs no app token", async () => {
    await using opened = await fixtureAndPlatform({ mode: "events", app_token: undefined });
    expect(await opened.channel.check(never)).toBe("svc in Acme");
    expect(opened.slack.called).toEqual(["auth.test"]);
  });

  test("names the scopes that are missing", async () => {
    await using opened = await fixtureAndPlatform();
    for (const scope of ["files:read", "reactions:write"]) opened.slack.scopes.delete(scope);
    expect(await opened.channel.check(never)).toContain("it lacks files:read, reactions:write:");
  });

  test.each([
    ["bot_token", "auth.test", { bot_token: "xoxb-wrong" }],
    ["app_token", "apps.connections.open", { app_token: "xapp-wrong" }],
    ["app_token, which is the bot's,", "apps.connections.open", { app_token: SECTION.bot_token }],
    ["bot_token, which is the app's,", "auth.test", { bot_token: SECTION.app_token }],
  ])("finds out that %s is wrong", async (_, last, section) => {
    await using opened = await fixtureAndPlatform(section);
    const error = await failure(opened.channel.check(never));
    expect(error).toMatchObject({ code: "CHANNEL_UNAUTHORIZED" });
    expect(error.hint).toBeDefined();
    expect(opened.slack.called.at(-1)).toBe(last);
  });

  test.each([
    ["account_inactive", "CHANNEL_UNAUTHORIZED"],
    ["internal_error", "REMOTE_UNREACHABLE"],
    ["ratelimited", "REMOTE_UNREACHABLE"],
  ])("that meets %s is %s", async (word, code) => {
    await using opened = await fixtureAndPlatform();
    opened.slack.mood = { babbles: JSON.stringify({ ok: false, error: word }) };
    expect(await failure(opened.channel.check(never))).toMatchObject({ code });
  });
});

describe("setup prints an app", () => {
  const manifestIn = (text: string) => JSON.parse(text.slice(text.indexOf("{"))) as Record<string, any>;

  test("that connects to the platform", async () => {
    const says = await fixture().channel.setup({ url: "" }, never);
    const { settings, features, oauth_config: oauth } = manifestIn(says);
    expect(says).toContain("connections:write");
    expect(oauth).toEqual({ scopes: { bot: [...BOT_SCOPES] } });
    expect(settings).toMatchObject({
      socket_mode_enabled: true,
      event_subscriptions: { bot_events: [...BOT_EVENTS] },
      interactivity: { is_enabled: true },
    });
    expect(JSON.stringify(settings)).not.toContain("http");
    expect(features).toMatchObject({
      app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      slash_commands: [{ command: "/svc" }],
    });
    expect(features["slash_commands"][0]).not.toHaveProperty("url");
  });

  test("that the page shows", async () => {
    const page = readFileSync(`${import.meta.dirname}/../../../../docs/channels/slack.md`, "utf8");
    const [, shown = ""] = /```json\n(.*?)```/s.exec(page) ?? [];
    expect(JSON.parse(shown)).toEqual(manifestIn(await fixture().channel.setup({ url: "" }, never)));
  });

  test.each(["https://svc.example.org/slack/events", "https://svc.example.org/", "https://svc.example.org"])(
    "that posts to %s",
    async (url) => {
      const says = await fixture({ mode: "events" }).channel.setup({ url }, never);
      const { settings, features } = manifestIn(says);
      expect(settings).toMatchObject({
        socket_mode_enabled: false,
        event_subscriptions: { request_url: "https://svc.example.org/slack/events" },
        interactivity: { request_url: "https://svc.example.org/slack/actions" },
      });
      expect(features["slash_commands"][0]["url"]).toBe("https://svc.example.org/slack/commands");
      expect(says).toContain("signing secret");
    },
  );

  test.each(["/slack/events", "http://svc.example.org/slack/events", ""])("but none that posts to %j", async (url) => {
    const error = await failure(fixture({ mode: "events" }).channel.setup({ url }, never));
    expect(error).toMatchObject({ code: "CHANNEL_CANNOT" });
  });
});

describe("the section", () => {
  const problemsOf = (section: object): string[] =>
    (v.safeParse(config, JSON.parse(JSON.stringify(section))).issues ?? [])
      .map((issue) => v.getDotPath(issue) ?? "")
      .toSorted();

  test.each([
    [{}, []],
    [{ bot_token: undefined }, ["bot_token"]],
    [{ app_token: undefined }, ["app_token"]],
    [{ app_token: " " }, ["app_token"]],
    [{ app_token: undefined, mode: "events" }, []],
    [{ signing_secret: undefined, mode: "events" }, ["signing_secret"]],
    [{ signing_secret: " ", mode: "events" }, ["signing_secret"]],
    [{ signing_secret: undefined }, []],
    [{ ack_reaction: "👀" }, ["ack_reaction"]],
    [{ ack_reaction: "white_check_mark" }, []],
    [{ mode: "rtm" }, ["mode"]],
  ])("with %j lacks %j", (more, problems) => {
    expect(problemsOf({ ...SECTION, ...more })).toEqual(problems);
  });
});
