// When the channel is there at all, what its section may say, and what `svc channels test` tells of a receiver.
import type { SvcError } from "@svc/contract";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { startPlatform } from "@svc/testkit/platforms/base";
import { startWebhookReceiver } from "@svc/testkit/platforms/webhook/receiver";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import definition, { type Config } from "../src/index.ts";
import { create } from "../src/webhook.ts";
import { never, open, SECRET } from "./open-webhook.ts";

const configOf = (section: object): Config => v.parse(definition.config!, section) as Config;

describe("the section", () => {
  test.each([{}, { url: "" }, { url: "  " }, { url_secret: SECRET }])(
    "%j turns on no channel, and says so",
    async (section) => {
      const context = fakeFeatureContext(configOf(section));
      const made = create(context);
      expect(Object.keys(made)).toEqual(["register"]);
      await made.register?.(never);
      expect(context.log.text()).toContain("has no url");
    },
  );

  test.each([
    { url: "receiver.example.org" },
    { url: "ftp://receiver.example.org" },
    { url: "https://ada:pass@receiver.example.org" },
    { method: "PATCH" },
    { timeout_secs: 0 },
    { timeout_secs: 61 },
    { url_secret: "whsec_no base64" },
    { authorization: "Bearer a\r\nx: y" },
    { signing_secret: "that of what comes in" },
    { approvers: ["*"] },
  ])("%j is refused", (section) => {
    const { issues } = v.safeParse(definition.config!, { url: "https://receiver.example.org", ...section });
    expect(issues?.length).toBeGreaterThan(0);
  });

  test("extends core's, whose keys it leaves alone", () => {
    expect(definition).toMatchObject({ extends: "channels_config.webhook" });
    expect(definition).not.toHaveProperty("section");
    expect(() => configOf({ agent: "support" })).toThrow("agent");
  });
});

describe("check", () => {
  test("says that the receiver is there, and whether messages are signed; it posts nothing", async () => {
    await using receiver = await startWebhookReceiver({ secret: SECRET });
    const signed = await open({ url: receiver.hook, url_secret: SECRET }).channel.check!(never);
    expect(signed).toMatch(/^127\.0\.0\.1:\d+ answers \(status 405 to HEAD\); messages go there signed/);
    expect(await open({ url: receiver.hook }).channel.check!(never)).toContain("NOT SIGNED");
    expect(receiver.requests.map(({ method }) => method)).toEqual(["HEAD", "HEAD"]);
  });

  test("does not show the path, which may be a secret of its own", async () => {
    await using receiver = await startPlatform(() => ({ status: 404 }));
    const line = await open({ url: `${receiver.url}/T000/B000/path-as-password?key=query-as-password` }).channel.check!(
      never,
    );
    expect(line).not.toContain("password");
  });

  test.each([
    [{ status: 403 }, undefined],
    [{ status: 410 }, undefined],
    [{ status: 401 }, "CHANNEL_UNAUTHORIZED"],
    [{ status: 500 }, "REMOTE_UNREACHABLE"],
    [{ status: 301, headers: { location: "/moved" } }, "REMOTE_UNREACHABLE"],
  ])("of a receiver that answers %j", async (reply, code) => {
    await using receiver = await startPlatform(({ path }) => (path === "/moved" ? { status: 200 } : reply));
    const checking = open({ url: receiver.url }).channel.check!(never);
    const told = await checking.catch((error: unknown) => (error as SvcError).code);
    expect(told).toContain(code ?? `status ${reply.status}`);
  });
});
