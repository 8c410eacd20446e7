// Links of fixes and sums of usage: a link to the wrong setting, or a sum that misses a day, is the bug here.
import { expect, test } from "vitest";
import { commandIn, fixLinkFor } from "../src/views/watch/doctor.tsx";
import { daysFrom, splitUsage } from "../src/views/watch/usage.tsx";

test.each([
  ["price", 'set input_per_million and output_per_million in [prices."m"]', "#/settings/prices"],
  ["channel-callbacks", "put TLS in front, and: svc config set gateway.public_url https://…", "#/settings/gateway"],
  ["allowlists", "svc channels allow; or channels_config.pager.allowed_users", "#/channels/pager"],
  ["public-bind", "set security.net.allow_private", "#/settings/security.net"],
  ["model", "svc config set model.base_url http://127.0.0.1", "#/model"],
  ["devices", "revoke those that nobody uses", "#/devices"],
])("the fix of %s links to the view that applies it", (id, fix, href) => {
  expect(fixLinkFor(id, fix)?.href).toBe(href);
});

test.each([
  ["disk", "find out why (dmesg), then remount it for writing"],
  ["database", "stop the daemon, then restore a backup: svc restore"],
  ["files", "chmod 600 /home/me/.svc/config.toml"],
])("the fix of %s has no link", (id, fix) => {
  expect(fixLinkFor(id, fix)).toBe(undefined);
});

test("copies only a complete command of a fix", () => {
  expect(commandIn("correct it, then: svc sop validate old-draft")).toBe("svc sop validate old-draft");
  expect(commandIn("svc config set gateway.public_url https://…")).toBe(undefined);
  expect(commandIn("see what is said of the disk; svc logs --level error")).toBe("svc logs --level error");
  expect(commandIn("make it writable")).toBe(undefined);
});

test("sums usage by day and group, days without usage included", () => {
  const line = (day: string, channel: string, turns: number) => ({
    day,
    agent: "default",
    model: "m",
    channel,
    turns,
    input_tokens: 10 * turns,
    output_tokens: turns,
    cost_usd: turns / 2,
    unknown_cost_turns: 0,
  });
  const { parts, total, byDay } = splitUsage(
    [line("2026-01-01", "", 1), line("2026-01-01", "pager", 2), line("2026-01-03", "pager", 4)],
    "channel",
  );
  expect(parts.map(({ name, totals }) => [name, totals.turns])).toEqual([
    ["", 1],
    ["pager", 6],
  ]);
  expect(total).toMatchObject({ turns: 7, inputTokens: 70, outputTokens: 7, costUsd: 3.5 });
  expect([byDay("2026-01-01").turns, byDay("2026-01-01", "pager").turns, byDay("2026-01-02").turns]).toEqual([3, 2, 0]);
  expect(daysFrom("2026-02-27", "2026-03-01")).toEqual(["2026-02-27", "2026-02-28", "2026-03-01"]);
});
