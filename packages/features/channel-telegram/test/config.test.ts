// A section that can't work must be refused where it is written, and not when the first message comes.
import { SECTION } from "./fixture.ts";
import * as v from "valibot";
import { expect, test } from "vitest";
import { config } from "../src/config.ts";

const problemsOf = (section: object): string[] =>
  (v.safeParse(config, section).issues ?? []).map((issue) => v.getDotPath(issue) ?? "");

test.each<[object, string[]]>([
  [{}, []],
  [{ bot_token: undefined }, ["bot_token"]],
  [{ bot_token: "" }, ["bot_token"]],
  [{ bot_token: "1:a b" }, ["bot_token"]],
  [{ bot_token: "1:a/../getMe" }, ["bot_token"]],
  [{ mode: "both" }, ["mode"]],
  [{ mode: "webhook" }, []],
  [{ mode: "webhook", webhook_secret: undefined }, ["webhook_secret"]],
  [{ webhook_secret: undefined }, []],
  [{ webhook_secret: "a b" }, ["webhook_secret"]],
  [{ webhook_secret: "x".repeat(257) }, ["webhook_secret"]],
  [{ ack_reaction: "🦊" }, ["ack_reaction"]],
  [{ ack_reaction: "❤️" }, []],
  [{ ack_reaction: "👨‍💻" }, []],
  [{ ack_reaction: "" }, []],
  [{ mention_only: "no" }, ["mention_only"]],
  [{ stream_mode: "always" }, ["stream_mode"]],
  [{ unknown: 1 }, ["unknown"]],
])("%j has the problems %j", (more, problems) => {
  const section = Object.fromEntries(
    Object.entries({ ...SECTION, ...more }).filter(([, value]) => value !== undefined),
  );
  expect(problemsOf(section)).toEqual(problems);
});

test("the defaults are polling, only when mentioned, an eye on what is read", () => {
  expect(v.parse(config, { bot_token: "1:a" })).toEqual({
    bot_token: "1:a",
    allowed_users: [],
    mode: "polling",
    mention_only: true,
    ack_reaction: "👀",
    api_url: "https://api.telegram.org",
    stream_mode: "partial",
    draft_update_interval_ms: 1_000,
    approvers: [],
    allowed_targets: [],
  });
});
