// Who the bot is there, what it may, and how it is let in; the section's own rules.
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import { fixture, never, SECTION } from "./fixture.ts";

describe("check", () => {
  test("tells the name and the servers", async () => {
    await using at = await fixture();
    expect(await at.channel.check(never)).toBe("helper#1234, in 1 guild");
    at.platform.addGuild("Another");
    expect(await at.channel.check(never)).toBe("helper#1234, in 2 guilds");
  });

  test("tells that messages can't be read, and where that is changed", async () => {
    await using at = await fixture();
    at.platform.gateway.rules.mayReadContent = false;
    expect(await at.channel.check(never)).toMatch(
      /Message Content Intent is off: turn it on at https:\/\/discord\.com/,
    );
  });

  test("of a wrong token is told with what to do", async () => {
    await using at = await fixture({ bot_token: "another" });
    await expect(at.channel.check(never)).rejects.toMatchObject({
      code: "CHANNEL_UNAUTHORIZED",
      hint: expect.stringContaining("Reset Token") as unknown,
    });
  });
});

test("setup prints the invitation, with the permissions that it needs and no others", async () => {
  await using at = await fixture();
  const told = await at.channel.setup({ url: "https://svc.example.org" }, never);
  const url = new URL(/https:\/\/discord\.com\/oauth2\S+/.exec(told)![0]);
  const { applicationId } = at.platform.world;
  const bits = [6n, 10n, 11n, 14n, 15n, 16n, 35n, 38n].reduce((sum, bit) => sum | (1n << bit), 0n);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: applicationId,
    scope: "bot applications.commands",
    permissions: String(bits),
  });
  at.platform.gateway.rules.mayReadContent = false;
  expect(await at.channel.setup({ url: "https://svc.example.org" }, never)).toContain("Message Content Intent");
});

describe("the section", () => {
  const parsed = (more: object) => v.safeParse(config, { ...SECTION, ...more });

  test("has its standards", () => {
    expect(v.parse(config, { bot_token: "x" })).toMatchObject({
      allowed_users: [],
      mention_only: true,
      thread_replies: true,
      slash_commands: true,
      ack_reaction: "👀",
      stream_mode: "partial",
      api_url: "https://discord.com/api",
    });
  });

  test.each([
    { bot_token: 7 },
    { allowed_guilds: [""] },
    { mention_only: "yes" },
    { api_url: "ftp://x" },
    { stream_mode: "all" },
    { draft_update_interval_ms: 1 },
  ])("refuses %j", (more) => {
    expect(parsed(more).success).toBe(false);
  });
});

test("an interval that is shorter than the platform allows is lengthened", async () => {
  await using at = await fixture({ draft_update_interval_ms: 100 });
  expect(at.channel.drafts.intervalMs({ channel: "discord", id: "1" })).toBe(1_000);
});
