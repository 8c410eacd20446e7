// The view of the child agents in a real browser: none, a tree that follows their states, and one that a person stops.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { beforeEach, expect, test } from "vitest";
import { launch, needChromium } from "./house/browser.ts";
import { signedIn } from "./house/person.ts";

beforeEach(needChromium);

test("a child agent appears, shows its state and its answer's cost, and is stopped", async () => {
  using home = temporaryHome();
  writeFileSync(join(home.path, "config.toml"), "[agents_pool]\n", { mode: 0o600 });
  await using daemon = await startBinary({ home: home.path, binary: fullestBinaryPath() });
  const token = await daemon.pair();
  const browser = await launch();
  try {
    await using person = await signedIn(browser, { url: daemon.url, token, pairingCode: () => daemon.pair() });
    const { page } = person;
    await person.go("agents", "Child agents");
    await page.getByText("No child agents").waitFor();
    // The built-in model answers at once.
    const body = { prompt: "say hello", title: "A greeting", wait_secs: 60 };
    const made = await daemon.request("/api/agents", { method: "POST", token, body });
    const { id, status } = (await made.json()) as { readonly id: string; readonly status: string };
    expect(status).toBe("idle");
    const row = page.getByRole("table", { name: "Child agents" }).getByRole("row").filter({ hasText: "A greeting" });
    await row.getByText("idle").waitFor();
    await row.getByText(id).waitFor();
    await row.getByRole("button", { name: "Stop A greeting" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await row.getByText("a person ended it").waitFor();
    expect(await row.getByRole("button").count()).toBe(0);
    const shown = await daemon.request(`/api/agents/${id}`, { token });
    expect(await shown.json()).toMatchObject({ status: "closed", processAlive: false });
    person.expectCalm();
  } finally {
    await browser.close();
  }
});
