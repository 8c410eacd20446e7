// Set-up must leave the platform as the config says: a webhook with its secret, or none in the way; and say what a person has to
// do where it can't.
import { TELEGRAM_TOKEN } from "@svc/testkit/platforms/telegram/server";
import { describe, expect, test } from "vitest";
import { failure, GROUP, fixture, fixtureAndPlatform, never, said, SECRET } from "./fixture.ts";
import { COMMANDS } from "../src/bot-api.ts";

const URL_OF_OURS = "https://svc.example.org/telegram";

describe("setup", () => {
  test("in webhook mode sets the webhook, with its secret, and drops nothing", async () => {
    await using at = await fixtureAndPlatform({ mode: "webhook" });
    const said = await at.channel.setup({ url: URL_OF_OURS }, never);
    expect(said).toContain("/new /model /status /stop /help");
    expect(at.platform.webhook).toMatchObject({ url: URL_OF_OURS, secretToken: SECRET });
    expect(at.platform.requests[0]?.json).toEqual({
      url: URL_OF_OURS,
      allowed_updates: ["message", "callback_query", "message_reaction"],
      drop_pending_updates: false,
      secret_token: SECRET,
    });
    expect(at.platform.done.commands).toEqual(COMMANDS);
  });

  test("in polling mode takes away a webhook that stands in the way, and drops nothing", async () => {
    await using at = await fixtureAndPlatform();
    at.platform.webhook.set({ url: URL_OF_OURS });
    at.platform.push({ message: { chat: { id: 1, type: "private" }, message_id: 1 } });
    expect(await at.channel.check(never)).toBe(
      "@svc_bot; a webhook stands in the way of polling: svc channels setup telegram",
    );
    expect(await at.channel.setup({ url: "" }, never)).toContain("is gone");
    expect(at.platform.webhook.url).toBeUndefined();
    expect(at.platform.waiting).toHaveLength(1);
    expect(await at.channel.setup({ url: "" }, never)).toContain("no webhook stands in the way");
    expect(await at.channel.check(never)).toBe("@svc_bot");
  });

  test.each(["", "/telegram", "http://svc.example.org/telegram", "https://svc.example.org:8080/telegram"])(
    "of a webhook at %j is refused before the platform is asked",
    async (url) => {
      await using at = await fixtureAndPlatform({ mode: "webhook" });
      expect(await failure(at.channel.setup({ url }, never))).toMatchObject({
        code: "CHANNEL_CANNOT",
        hint: expect.stringContaining("gateway.public_url"),
      });
      expect(at.platform.requests).toEqual([]);
    },
  );

  test("of a name that the platform does not take is told", async () => {
    await using at = await fixtureAndPlatform({ mode: "webhook" });
    at.platform.failNext("setWebhook", [
      { code: 400, description: "Bad Request: bad webhook: Failed to resolve host: Name or service not known" },
    ]);
    expect(await failure(at.channel.setup({ url: URL_OF_OURS }, never))).toMatchObject({
      message: "The platform does not take the address of the webhook.",
      hint: expect.stringContaining("a name that the world can resolve"),
    });
  });
});

describe("check", () => {
  test("warns where the platform hides what the config wants to hear", async () => {
    await using at = await fixtureAndPlatform({ mention_only: false });
    expect(await at.channel.check(never)).toMatch(/^@svc_bot; its privacy mode hides .* \/setprivacy at @BotFather$/);
    await using open = await fixtureAndPlatform({ mention_only: false }, { readsGroups: true });
    expect(await open.channel.check(never)).toBe("@svc_bot");
  });

  test("says that a webhook is not set yet", async () => {
    await using at = await fixtureAndPlatform({ mode: "webhook" });
    expect(await at.channel.check(never)).toBe("@svc_bot; no webhook is set yet: svc channels setup telegram");
  });

  test("of what answers something else is REMOTE_UNREACHABLE", async () => {
    await using at = await fixtureAndPlatform();
    for (const babbles of ["<html>", '{"ok":true,"result":{"username":"a\\u001b[2J"}}', '{"ok":true}']) {
      at.platform.mood = { babbles };
      expect(await failure(at.channel.check(never))).toMatchObject({ code: "REMOTE_UNREACHABLE" });
    }
  });
});

test("the name is remembered over restarts, but not for another bot", async () => {
  await using at = await fixtureAndPlatform({ mode: "webhook" });
  await at.channel.check(never);
  const { state } = at.context;
  const named = said("@svc_bot hello", {
    chat: GROUP,
    more: { entities: [{ type: "mention", offset: 0, length: 8 }] },
  });
  for (const [token, count] of [
    [TELEGRAM_TOKEN, 1],
    [TELEGRAM_TOKEN.replace("1", "2"), 0],
  ] as const) {
    const next = fixture({ mode: "webhook", bot_token: token }, { state });
    await next.made.register(never);
    expect(next.parsed(named).inbound).toHaveLength(count);
  }
});
