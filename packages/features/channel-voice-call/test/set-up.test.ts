// A section that is half right, a number that no one can call, a channel that cannot be reached: told before the first call.
import { openChannel } from "@svc/testkit/open-channel";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import definition from "../src/index.ts";
import { create } from "../src/voice-call.ts";
import { failure, fixture, never, NUMBER, PERSON, SECTION } from "./fixture.ts";

const problemsOf = (section: object): string[] =>
  (v.safeParse(config, section).issues ?? []).map((issue) => v.getDotPath(issue) ?? "");

describe("the section", () => {
  test("needs the account, its token and its number, and nothing else", () => {
    expect(problemsOf({}).toSorted()).toEqual(["account_sid", "auth_token", "from_number"]);
    expect(problemsOf(SECTION)).toEqual([]);
  });

  test.each([
    [{ account_sid: "SK0123456789abcdef0123456789abcdef" }, "account_sid"],
    [{ from_number: "555 1234" }, "from_number"],
    [{ language: "english please" }, "language"],
    [{ voice: 'Polly"><Hangup/>' }, "voice"],
    [{ webhook_url: "svc.example.org" }, "webhook_url"],
    [{ webhook_url: `https://${"x".repeat(300)}.org` }, "webhook_url"],
    [{ recognizer: "me" }, "recognizer"],
    [{ max_call_secs: 0 }, "max_call_secs"],
    [{ greeting: "x".repeat(201) }, "greeting"],
  ])("%j is refused", (wrong, key) => {
    expect(problemsOf({ ...SECTION, ...wrong })).toEqual([key]);
  });

  test("takes addresses with a slash at their end", () => {
    const { webhook_url: webhook, api_url: api } = v.parse(config, {
      ...SECTION,
      webhook_url: "https://svc.example.org/",
    });
    expect([webhook, api]).toEqual(["https://svc.example.org", "https://api.twilio.com"]);
  });
});

describe("a channel without a public address", () => {
  const opened = (publicUrl?: string) => openChannel({ definition, create }, SECTION, { publicUrl });

  test("says so at start, and takes nobody's webhooks", async () => {
    const { made, ingress } = opened();
    expect(await failure(made.register!(never))).toMatchObject({
      code: "FEATURE_FAILED",
      hint: expect.stringContaining("gateway.public_url"),
    });
    const request = { method: "POST", query: new URLSearchParams(), target: "/voice-call", receivedAtMs: 0 };
    const headers = { "x-twilio-signature": "x" };
    expect(ingress[0]!.verify({ ...request, headers, body: new Uint8Array() })).toMatchObject({
      ok: false,
      why: expect.stringContaining("webhook_url"),
    });
    expect(ingress.every(({ sample }) => sample === undefined)).toBe(true);
  });

  test("is content with gateway.public_url", async () => {
    const { made, ingress } = opened("https://svc.example.org");
    await made.register!(never);
    expect(ingress.map(({ path, signed }) => [path, signed])).toEqual([
      ["/voice-call", true],
      ["/voice-call/next", true],
      ["/voice-call/speech", true],
      ["/voice-call/status", true],
      ["/voice-call/audio", true],
    ]);
  });
});

describe("setup", () => {
  test("makes the number call this service, and says what is left", async () => {
    await using at = await fixture({ section: { allowed_numbers: [] } });
    Object.assign(at.platform.number, { voiceUrl: "", statusCallback: undefined });
    const told = await at.channel.setup!({ url: "https://elsewhere.example.org" }, never);
    expect(at.platform.number).toEqual({
      voiceUrl: `${at.base}/voice-call`,
      statusCallback: `${at.base}/voice-call/status`,
    });
    expect(told).toContain(`Calls to ${NUMBER} come in at ${at.base}/voice-call`);
    expect(told).toContain("should reach it by https");
    expect(told).toContain("No caller is allowed yet");
  });

  test("of a number that the account does not have says so", async () => {
    await using at = await fixture({ section: { from_number: "+15550001111" } });
    expect(await failure(at.channel.setup!({ url: "" }, never))).toMatchObject({
      code: "CHANNEL_CANNOT",
      message: "The account has no phone number +15550001111.",
    });
  });
});

describe("check", () => {
  test("tells account and number", async () => {
    await using at = await fixture();
    expect(await at.channel.check!(never)).toBe(`Lucky Shrub, ${NUMBER}`);
  });

  test.each([
    [{ friendly_name: "\u001B[2JEvil\nname", status: "active", type: "Full" }, ` [2JEvil name, ${NUMBER}`.trim()],
    [
      { friendly_name: "Mine", status: "suspended", type: "Trial" },
      `Mine, ${NUMBER} (trial: calls verified numbers only, suspended)`,
    ],
    [{ friendly_name: 7 }, `an account without a name, ${NUMBER}`],
  ])("of %j is %j", async (account, line) => {
    const { channel } = openChannel(
      { definition, create },
      { ...SECTION, webhook_url: "https://svc.example.org" },
      {
        fetch: async (url) => ({
          status: 200,
          headers: {},
          bytes: Buffer.from(JSON.stringify(account)),
          truncated: false,
          url,
        }),
      },
    );
    expect(await channel.check!(never)).toBe(line);
  });
});

describe("who may call", () => {
  test("is told by the number, however it is written", async () => {
    await using at = await fixture({ section: { allowed_numbers: ["+1 (555) 123-4567"] } });
    expect((await at.platform.ring(PERSON)).doing).toBe("saying");
  });

  test("and hides the number has a conversation for each call, and only where everybody may call", async () => {
    await using closed = await fixture();
    expect((await closed.platform.ring("+266696687")).doing).toBe("over");
    await using at = await fixture({ section: { allowed_numbers: ["*"] } });
    for (const from of ["+266696687", "anonymous"]) {
      const phone = await at.platform.ring(from);
      await phone.hears("listening");
      await phone.says("Guess who is calling you now");
      const message = at.inbound.at(-1)!;
      expect(message).toMatchObject({ sender: "anonymous", conversation: { id: "anonymous", thread: phone.sid } });
      await at.channel.send(at.answer("I can't."), never);
      await phone.hears("listening");
      expect(phone.texts.at(-1)).toBe("I can't.");
      await phone.hangsUp();
    }
  });

  test("is believed only where the network vouches for the number, if that is wished", async () => {
    await using at = await fixture({ section: { verified_callers_only: true } });
    const verdicts: Record<string, string> = {};
    for (const stir of [
      "TN-Validation-Passed-A",
      "TN-Validation-Passed-B-Diverted",
      "TN-Validation-Passed-C",
      "TN-Validation-Failed-A",
      "",
    ]) {
      verdicts[stir] = (await at.platform.ring(PERSON, { StirVerstat: stir })).doing;
    }
    expect(verdicts).toEqual({
      "TN-Validation-Passed-A": "saying",
      "TN-Validation-Passed-B-Diverted": "saying",
      "TN-Validation-Passed-C": "over",
      "TN-Validation-Failed-A": "over",
      "": "over",
    });
    expect(at.context.log.text()).toContain("caller's number is not verified");
  });
});
