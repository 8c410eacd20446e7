// The two sections: where each leads to, and which of them has an app that both name.
import * as v from "valibot";
import { expect, test } from "vitest";
import { chinaConfig, globalConfig } from "../src/config.ts";
import { fixture, SECTION } from "./fixture.ts";

const { allowed_users, app_id, app_secret } = SECTION;
const least = { app_id, app_secret, allowed_users };

test("each section leads to its platform, and use_feishu to the other", () => {
  expect(v.parse(globalConfig, least)).toMatchObject({
    api_url: "https://open.larksuite.com",
    isFeishu: false,
    receive_mode: "websocket",
    mention_only: true,
    stream_mode: "partial",
  });
  expect(v.parse(globalConfig, { ...least, use_feishu: true })).toMatchObject({
    api_url: "https://open.feishu.cn",
    isFeishu: true,
  });
  expect(v.parse(chinaConfig, least)).toMatchObject({ api_url: "https://open.feishu.cn", isFeishu: true });
  expect(v.parse(chinaConfig, { ...least, api_url: "https://proxy.test/" })).toMatchObject({
    api_url: "https://proxy.test",
  });
  expect(v.safeParse(chinaConfig, { ...least, use_feishu: true }).success).toBe(false);
  expect(v.safeParse(globalConfig, { ...least, receive_mode: "polling" }).success).toBe(false);
  expect(v.safeParse(globalConfig, { ...least, app_id: "cli_1/../2" }).success).toBe(false);
});

test("an app that both sections name is the dedicated section's, and the log says so", () => {
  const siblings = { "channels_config.workchat_cn": { app_id } };
  const made = fixtureOf({ use_feishu: true }, siblings);
  expect(made?.log).toContain("workchat_cn has the same app");
  expect(fixtureOf({}, siblings)).toBeUndefined();
  expect(fixtureOf({ use_feishu: true }, { "channels_config.workchat_cn": { app_id: "cli_other" } })).toBeUndefined();
  expect(fixtureOf({ use_feishu: true }, {})).toBeUndefined();
});

/** What the log says where there is no channel; undefined: there is one. */
function fixtureOf(section: Record<string, unknown>, siblings: Record<string, unknown>): { log: string } | undefined {
  const lines: string[] = [];
  const warn = (message: string): void => void lines.push(message);
  const log = { debug: warn, info: warn, warn, error: warn };
  try {
    fixture(section, { siblings, log: log as never } as never);
    return undefined;
  } catch (error) {
    if (!(error as Error).message.includes("contributes no channel")) throw error;
    return { log: lines.join("\n") };
  }
}
