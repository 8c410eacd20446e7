// The feature keeps what every feature keeps, and its section refuses what could never work.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { safetyConfig } from "../src/config.ts";
import definition from "../src/index.ts";

featureConformance(definition, {
  root: `${import.meta.dirname}/..`,
  config: { drive: { board: "arduino0", left: 5, right: 6 } },
  inputs: { drive: { direction: "forward", distance: 1 }, stop: {}, drive_status: {} },
});

describe("[safety]", () => {
  const BOARD = { board: "arduino0", left: 5, right: 6 };
  test.each([
    [{ drive: BOARD }],
    [{ drive: { backend: "simulated" } }],
    [{ drive: { backend: "simulated", seed: 7 }, max_speed: 1 }],
    [{ drive: BOARD, estop_pin: 2, bump_pins: [3, 4], sensors: [{ board: "arduino0", kind: "distance", pin: 7 }] }],
  ])("takes %j", (section) => {
    expect(v.is(safetyConfig, section)).toBe(true);
  });

  test.each([
    [{}],
    [{ drive: {} }],
    [{ drive: { board: "arduino0", left: 5 } }],
    [{ drive: { ...BOARD, right: 5 } }],
    [{ drive: { ...BOARD, backend: "other" } }],
    [{ drive: BOARD, min_obstacle_distance: 0 }],
    [{ drive: BOARD, slow_zone_multiplier: 1 }],
    [{ drive: BOARD, sensor_timeout_secs: 60 }],
    [{ drive: BOARD, max_drive_duration: 0 }],
    [{ drive: BOARD, max_speed: Number.NaN }],
    [{ drive: BOARD, sensors: [{ board: "arduino0", kind: "camera", pin: 7 }] }],
  ])("refuses %j", (section) => {
    expect(v.is(safetyConfig, section)).toBe(false);
  });

  test("needs hardware-gpio for a board, and the tool stop wherever drive is", () => {
    const stop = { tool: "stop", beside: "drive" };
    expect(definition.needs!(v.parse(safetyConfig, { drive: BOARD }))).toEqual([
      { key: "drive", feature: "hardware-gpio" },
      stop,
    ]);
    expect(definition.needs!(v.parse(safetyConfig, { drive: { backend: "simulated" } }))).toEqual([stop]);
  });
});
