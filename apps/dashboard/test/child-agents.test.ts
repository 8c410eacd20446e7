// The view of the child agents in a real browser: none, a tree that follows their states, and one that a person stops.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { temporaryHome } from "@svc/testkit/temporary-home";
import { beforeEach, expect, test } from "vitest";
import { launch, needChromium } from "./fixture/browser.ts";
import { signedIn } from "./fixture/person.ts";

beforeEach(needChromium);

test("shows a child agent with its state and cost, and stops it", async () => {
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
    await row.getByRole("button", { name: "What A greeting does" }).click();
    const events = page.getByRole("table", { name: "What A greeting does" });
    await events.getByText("say hello", { exact: true }).waitFor();
    await row.getByRole("button", { name: "Stop A greeting" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Stop" }).click();
    await row.getByText("a person ended it").waitFor();
    expect(await row.getByRole("button", { name: "Stop" }).count()).toBe(0);
    // It came by the stream that was open.
    await events.getByText("closed: a person ended it").waitFor();
    await page.getByRole("button", { name: "Close", exact: true }).click();
    await events.waitFor({ state: "detached" });
    const limited = { prompt: "say hello", title: "Limited", budget: { tokens: 1, actions: 3 }, wait_secs: 60 };
    await daemon.request("/api/agents", { method: "POST", token, body: limited });
    const other = page.getByRole("table", { name: "Child agents" }).getByRole("row").filter({ hasText: "Limited" });
    await other.getByText("CHILD_AGENT_BUDGET").waitFor();
    await other.getByText("calls: 0 of 3").waitFor();
    const shown = await daemon.request(`/api/agents/${id}`, { token });
    expect(await shown.json()).toMatchObject({ status: "closed", processAlive: false });
    person.expectCalm();
  } finally {
    await browser.close();
  }
});
