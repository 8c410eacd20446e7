// The channel must tell who it is on the platform, go off when its token is refused, and wait when no one answers.
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import { create } from "../src/provider-a.ts";
import { harness, harnessAndPlatform, never, SECTION } from "./harness.ts";

describe("check", () => {
  test("tells the account in one line", async () => {
    await using at = await harnessAndPlatform();
    expect(await at.channel.check(never)).toBe("Lucky Shrub, +1 555-078-3881, quality GREEN");
    expect(at.platform.requests[0]?.query.get("fields")).toBe("display_phone_number,verified_name,quality_rating");
  });

  test.each([
    [{ access_token: "expired" }, "The access token has expired or was withdrawn (error 190)."],
    [
      { phone_number_id: "555" },
      "The platform knows no such phone number id, or the access token may not use it (error 100).",
    ],
  ])("with %j it says what is wrong", async (section, sentence) => {
    await using at = await harnessAndPlatform(section);
    await expect(at.channel.check(never)).rejects.toMatchObject({ code: "CHANNEL_UNAUTHORIZED", message: sentence });
  });

  test("what a name can do to a terminal is taken out of it", async () => {
    const fetch = () =>
      Promise.resolve({
        status: 200,
        headers: {},
        bytes: Buffer.from(JSON.stringify({ verified_name: `\u001B[2JEvil\n${"x".repeat(500)}`, quality_rating: 7 })),
        truncated: false,
        url: `https://graph.example/v25.0/${SECTION.phone_number_id}`,
      });
    const line = await harness({}, { fetch }).channel.check(never);
    expect(line).toMatch(/^ \[2JEvil x+$/);
    expect(line.length).toBe(200);
  });
});

describe("run", () => {
  test("waits for its end when all is well, and says who it is", async () => {
    const answered = Promise.withResolvers<void>();
    const fetch = (url: string) => {
      answered.resolve();
      const bytes = Buffer.from('{"verified_name":"Lucky Shrub"}');
      return Promise.resolve({ status: 200, headers: {}, bytes, truncated: false, url });
    };
    const one = harness({}, { fetch });
    const stop = new AbortController();
    const running = one.run(stop.signal);
    await answered.promise;
    // What follows an answer is done before anything else has its turn.
    await new Promise((resolve) => setImmediate(resolve));
    expect(one.context.log.text()).toContain("Lucky Shrub");
    stop.abort();
    await running;
  });

  test("credentials that are refused end it for good", async () => {
    await using at = await harnessAndPlatform({ access_token: "expired" });
    await expect(at.run(never)).rejects.toMatchObject({ code: "FEATURE_FAILED" });
  });

  test("a platform that is down is tried again", async () => {
    await using at = await harnessAndPlatform();
    at.platform.mood = { refuses: 503 };
    await expect(at.run(never)).rejects.toMatchObject({ code: "REMOTE_UNREACHABLE" });
  });
});

test("with session_path beside phone_number_id Cloud mode is used, and that is said", async () => {
  const both = harness({ session_path: "/var/lib/session" });
  await both.register(never);
  expect(both.channel).toBeDefined();
  expect(both.context.log.text()).toContain("Cloud mode is used");
  const one = harness();
  await one.register(never);
  expect(one.context.log.text()).not.toContain("Cloud mode");
});

test("in Web mode the channel is another feature's", () => {
  const section = v.parse(config, { session_path: "/x", app_secret: SECTION.app_secret });
  expect(create(fakeFeatureContext(section))).toEqual({});
});
