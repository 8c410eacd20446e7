// behaviour, Defaults: a section that is there turns its feature on, unless it says no; an absent feature is explained.
import { hashedSecret } from "../src/index.ts";
import { afterAll, describe, expect, test } from "vitest";
import {
  alwaysOn,
  FEATURES,
  mailpush,
  makeFixture,
  PROVIDER_A,
  providerA,
  shapes,
  webhookOut,
} from "./config-fixtures.ts";

const fixture = makeFixture();
afterAll(() => fixture.remove());

describe("features outside this build", () => {
  test("the section names the flag, the profiles and the build command", async () => {
    const problems = await fixture.problems("[gateway]\n\n[channels_config.federated]\nhomeserver = 'x'\n");
    expect(problems).toMatchObject([{ code: "FEATURE_ABSENT", line: 3, key: "channels_config.federated" }]);
    expect(problems[0]?.message).toBe(
      "this section needs the feature channel-federated, not in this build; profiles that have it: standard, full; " +
        "build it in with: npx pnpm build home --with channel-federated",
    );
  });

  test("a planned one is said to be that", async () => {
    const problems = await fixture.problems("[robot.safety]\nestop_pin = 3\n");
    expect(problems).toMatchObject([
      { code: "FEATURE_PLANNED", message: "this section needs the feature safety, planned, not written yet" },
    ]);
  });

  test("the error has their code when nothing else is wrong", async () => {
    const absent = await fixture.load({}, "[channels_config.federated]").catch((error: unknown) => error);
    expect(absent).toMatchObject({ code: "FEATURE_ABSENT" });
    const both = await fixture.load({}, "x = 1\n[channels_config.federated]").catch((error: unknown) => error);
    expect(both).toMatchObject({ code: "CONFIG_INVALID" });
  });
});

describe("what turns a feature on", () => {
  const onWith = async (toml: string) => {
    const config = await fixture.load({}, toml);
    return FEATURES.filter((feature) => config.enabled(feature)).map(({ id }) => id);
  };

  test("nothing but the sectionless one with an empty file", async () => {
    expect(await onWith("")).toEqual([alwaysOn.id]);
  });

  test("a section that is there does, unless it says no", async () => {
    expect(await onWith(PROVIDER_A)).toContain(providerA.id);
    expect(await onWith(`${PROVIDER_A}enabled = false`)).not.toContain(providerA.id);
    expect(await onWith("[shapes]")).toContain(shapes.id);
  });

  test("a schema can demand enabled = true", async () => {
    expect(await onWith("[channels_config.mailpush]\ntopic = 't'")).not.toContain(mailpush.id);
    expect(await onWith("[channels_config.mailpush]\ntopic = 't'\nenabled = true")).toContain(mailpush.id);
  });

  test("what is off may lack keys but not have wrong ones", async () => {
    const off = await fixture.load({}, "[channels_config.mailpush]\nenabled = false");
    expect(off.section("channels_config.mailpush")).toBeUndefined();
    expect(
      await fixture.lines("[channels_config.mailpush]\nenabled = false\nwebhook_url = 'x'\ntopc = 't'"),
    ).toHaveLength(2);
    expect(await fixture.lines("[channels_config.provider_a]\nenabled = 'no'")).toContain(
      "config.toml:2  channels_config.provider_a.enabled: must be true or false",
    );
  });

  test("an extension is on with the first of its own keys, and its required ones are then demanded", async () => {
    const without = await fixture.load({}, "[channels_config.webhook]\nsecret = 's'");
    expect(without.enabled(webhookOut)).toBe(false);
    expect(without.configOf(webhookOut)).toBeUndefined();
    expect(without.section("channels_config.webhook")).toEqual({ secret: hashedSecret("s") });
    const on = await fixture.load({}, "[channels_config.webhook]\nsecret = 's'\nurl = 'http://h/'");
    expect(on.configOf(webhookOut)).toEqual({ url: "http://h/", retries: 3 });
    expect(on.section("channels_config.webhook")).toEqual({ secret: hashedSecret("s"), url: "http://h/", retries: 3 });
    expect(on.core["channels_config.webhook"].secret).toEqual(hashedSecret("s"));
    expect(await fixture.lines("[channels_config.webhook]\nretries = 1")).toEqual([
      "config.toml:1  channels_config.webhook.url: is required",
    ]);
  });

  test("a feature is handed its own keys", async () => {
    const config = await fixture.load({}, `${PROVIDER_A}enabled = true`);
    expect(config.configOf(providerA)).toEqual({
      access_token: "token-of-a",
      phone_number_id: "1",
      verify_token: "verify-of-a",
      allowed_numbers: [],
    });
  });
});
