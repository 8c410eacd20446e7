// A group's messages are told apart by who wrote them: by name, but no message may wait for a name.
import { slackMessageEvent } from "@svc/testkit/platforms/slack/events";
import { describe, expect, test } from "vitest";
import { NOW_MS, PERSON, platform } from "./fixture.ts";
import { type Listening, listening } from "./listening.ts";

const say = (at: Listening, id: string, event = {}) =>
  at.slack.socket.send(
    "events_api",
    slackMessageEvent({ id, text: `Hello ${id} <@U0BOB>`, from: PERSON, atMs: NOW_MS, event }),
  );

describe("who wrote", () => {
  test("is known by name from the second message on", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    say(at, "one");
    await at.until(() => at.kept.length === 1);
    expect(at.kept[0]).not.toHaveProperty("senderName");
    await at.until(() => at.slack.called.includes("users.info"));
    await at.until(() => at.clock.waiting > 0, 100);
    await at.until(() => {
      if (at.kept.at(-1)?.senderName === undefined && at.slack.socket.waiting.length === 0)
        say(at, `again ${at.kept.length}`);
      return at.kept.at(-1)?.senderName !== undefined;
    });
    expect(at.kept.at(-1)?.senderName).toBe("Ada");
    expect(at.slack.called.filter((name) => name === "users.info")).toHaveLength(1);
  });

  test("is known at once where the event tells", async () => {
    await using at = await listening();
    await at.slack.socket.opened(1);
    say(at, "one", { user_profile: { display_name: "Ada L.", real_name: "Ada Lovelace" } });
    await at.until(() => at.kept.length === 1);
    expect(at.kept[0]?.senderName).toBe("Ada L.");
  });

  test("can't be told by a platform that has a fault, and is asked for no more than allowed", async () => {
    const slack = await platform();
    slack.mood = ({ path }) => (path.endsWith("users.info") ? { rateLimits: 30 } : "takes");
    await using at = await listening({ slack });
    await slack.socket.opened(1);
    for (const id of ["one", "two", "three"]) say(at, id);
    await at.until(() => at.kept.length === 3);
    await at.until(() => slack.requests.some(({ path }) => path.endsWith("users.info")));
    expect(slack.requests.filter(({ path }) => path.endsWith("users.info"))).toHaveLength(1);
    expect(at.kept.map(({ senderName }) => senderName)).toEqual([undefined, undefined, undefined]);
  });
});
