// On a board that svc knows there are tools and a page about it; everywhere else there is nothing, and nothing fails.
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { temporaryHome } from "@svc/testkit/temporary-home";
import * as v from "valibot";
import { describe, expect, test } from "vitest";
import { boardOf, sbcOf } from "../src/sbc.ts";
import definition from "../src/index.ts";

featureConformance(definition, { root: `${import.meta.dirname}/..` });

describe("the model", () => {
  test.each([
    ["Raspberry Pi 3 Model B Rev 1.2", "pinctrl-bcm2835", 47],
    ["Raspberry Pi 3 Model B Plus Rev 1.3", "pinctrl-bcm2835", 47],
    ["Raspberry Pi 4 Model B Rev 1.4", "pinctrl-bcm2711", 42],
    ["Raspberry Pi 5 Model B Rev 1.0", "pinctrl-rp1", undefined],
    ["Raspberry Pi Zero 2 W Rev 1.0", "pinctrl-bcm2835", 29],
  ])("%s has its pins at %s", (model, chip, led) => {
    expect(boardOf(model)).toMatchObject({ model, chip, led });
  });

  test.each([
    "Raspberry Pi 3 Model A Plus Rev 1.0",
    "Raspberry Pi 400 Rev 1.0",
    "Raspberry Pi 500 Rev 1.0",
    "Raspberry Pi Compute Module 4 Rev 1.0",
    "Raspberry Pi Zero W Rev 1.1",
    "Xunlong Orange Pi 5",
    "raspberry pi 5",
    "",
  ])("%j is none that svc knows", (model) => {
    expect(boardOf(model)).toBeUndefined();
  });
});

/** The feature on a file system with this model. */
async function on(model: string | undefined) {
  const home = temporaryHome();
  const at = (...parts: string[]): string => join(home.path, ...parts);
  mkdirSync(at("root/proc/device-tree"), { recursive: true });
  mkdirSync(at("root/sys/class/thermal/thermal_zone0"), { recursive: true });
  mkdirSync(at("root/dev"));
  if (model !== undefined) writeFileSync(at("root/proc/device-tree/model"), model);
  writeFileSync(at("root/sys/class/thermal/thermal_zone0/temp"), "48312\n");
  const { survey, create } = sbcOf(at("root"));
  const { signal } = new AbortController();
  const context = fakeFeatureContext(undefined, { survey: await survey({} as never, signal), homeFolder: at("home") });
  return { made: create(context), context, at, signal, remove: () => home.remove() };
}

test.each([undefined, "", "Raspberry Pi 400 Rev 1.0\0", "QEMU"])("on %j it contributes nothing", async (model) => {
  const { made, remove } = await on(model);
  expect(made).toEqual({});
  remove();
});

test("on a known board it writes rpi0.md and tells the model what it runs on", async () => {
  const { made, at, signal, remove } = await on("Raspberry Pi 4 Model B Rev 1.4\0");
  expect(made.tools?.map(({ name }) => name)).toEqual([
    "gpio_rpi_write",
    "gpio_rpi_read",
    "gpio_rpi_blink",
    "rpi_system_info",
  ]);
  expect(made.promptContext?.()).toBe("");
  await made.register?.(signal);
  expect(made.promptContext?.()).toMatch(
    /^This service runs on a Raspberry Pi 4 Model B Rev 1\.4 \(rpi0\): .*MB RAM, CPU at 48\.3 °C\.\nGPIO rules: /,
  );
  const file = at("home/hardware/devices/rpi0.md");
  expect(readFileSync(file, "utf8")).toMatch(/Raspberry Pi 4 Model B Rev 1\.4[^]*GPIO 42[^]*gpio_rpi_write/);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await made.shutdown?.();
  remove();
});

test("a profile that can't be written leaves the tools", async () => {
  const { made, at, context, signal, remove } = await on("Raspberry Pi 5 Model B Rev 1.0\0");
  mkdirSync(at("home"));
  symlinkSync("/dev/null", at("home/hardware"));
  await made.register?.(signal);
  expect(context.log.text()).toContain("could not write the profile");
  expect(made.promptContext?.()).toContain("Raspberry Pi 5");
  remove();
});

describe("without a GPIO controller", async () => {
  const { made } = await on("Raspberry Pi 4 Model B Rev 1.4\0");
  const [write, read, blink, info] = made.tools!;

  test.each([
    [write!, { pin: 17, value: 1 }],
    [read!, { pin: 17 }],
    [blink!, { pin: 17 }],
  ])("a tool says what is missing", async (tool, input) => {
    const error = await tool.run(v.parse(tool.input, input), fakeToolContext()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: "TOOL_FAILED",
      message: "There is no GPIO controller pinctrl-bcm2711 that svc may use.",
    });
  });

  test("blinking for hours is refused", async () => {
    const input = v.parse(blink!.input, { pin: 17, times: 100, on_ms: 10_000, off_ms: 10_000 });
    await expect(blink!.run(input, fakeToolContext())).rejects.toMatchObject({ code: "TOOL_BAD_INPUT" });
  });

  test.each([
    { pin: -1, value: 1 },
    { pin: 58, value: 1 },
    { pin: 17, value: 2 },
    { pin: 1.5, value: 1 },
    { value: 1 },
  ])("%j is no input", (input) => expect(v.is(write!.input, input)).toBe(false));

  toolConformance(info!, { input: {}, badInputs: [{ pin: 1 }] });
});
