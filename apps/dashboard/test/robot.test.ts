// The view of the robot in a real browser: the simulated room, a stop, an emergency stop and its reset by a person.
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, test } from "vitest";
import { launch, needChromium } from "./fixture/browser.ts";
import { signedIn } from "./fixture/person.ts";

beforeEach(needChromium);

test("shows room and sensors, and resets an emergency stop", async () => {
  using home = temporaryHome();
  writeFileSync(join(home.path, "config.toml"), '[safety]\ndrive = { backend = "simulated" }\n', { mode: 0o600 });
  await using daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
  const token = await daemon.pair();
  const browser = await launch();
  try {
    await using person = await signedIn(browser, { url: daemon.url, token, pairingCode: () => daemon.pair() });
    const { page } = person;
    await person.go("robot", "Robot");
    const room = page.getByRole("img", { name: "The simulated room from above" });
    await room.waitFor();
    expect(await room.locator("circle.obstacle").count()).toBe(6);
    const sensors = page.getByRole("table", { name: "Sensors" });
    await sensors.getByText("distance at 0°").waitFor();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    await page.getByText("Stopped by a person on a paired device.").waitFor();
    await page.getByRole("button", { name: "Emergency stop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Emergency stop" }).click();
    await page.getByText("stopped until reset", { exact: true }).waitFor();
    const status = async () => (await (await daemon.request("/api/safety", { token })).json()) as { state: string };
    expect(await status()).toMatchObject({ state: "latched", latch: { by: "a person on a paired device" } });
    await page.getByRole("button", { name: "Reset the emergency stop" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Reset the emergency stop" }).click();
    await page.getByText("idle", { exact: true }).waitFor();
    expect(await status()).toMatchObject({ state: "idle", latch: null });
    person.expectCalm();
  } finally {
    await browser.close();
  }
});
