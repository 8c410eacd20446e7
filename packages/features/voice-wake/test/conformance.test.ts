// The feature keeps what every feature keeps, and its section refuses what could never work or would start something else.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { config } from "../src/config.ts";
import definition from "../src/index.ts";

const SECTION = { wake_word: "computer" };

featureConformance(definition, { root: `${import.meta.dirname}/..`, config: SECTION });

describe("[channels_config.voice_wake]", () => {
  test("has the defaults that are documented", () => {
    expect(v.parse(config, SECTION)).toMatchObject({
      silence_timeout_ms: 1_500,
      energy_threshold: 0.01,
      max_capture_secs: 30,
      max_transcriptions_per_hour: 120,
    });
  });

  test.each([
    [{ wake_word: " " }],
    [{ wake_word: undefined }],
    [{ energy_threshold: 0 }],
    [{ energy_threshold: 2 }],
    [{ silence_timeout_ms: 10 }],
    [{ max_capture_secs: 0 }],
    [{ device: "--help" }],
    [{ device: "a b" }],
    [{ recorder: [] }],
    [{ recorder: "parec" }],
    [{ max_transcriptions_per_hour: 0 }],
    [{ price_per_minute: -1 }],
    [{ notification_target: "x" }],
  ])("refuses %j", (wrong) => {
    expect(v.is(config, { ...SECTION, ...wrong })).toBe(false);
  });
});
