// Usage charts, the live log, checks with their fixes, and the set-up steps, in a real browser.
import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { seriousFindings } from "./fixture/axe.ts";
import { hasChromium, launch, needChromium } from "./fixture/browser.ts";
import { type Fixture, openFixture } from "./fixture/fixture.ts";
import { signedIn } from "./fixture/person.ts";

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 800 };
const HOSTILE = "<img src=x onerror=window.hacked=1>\u202e";

let browser: Browser;
let fixture: Fixture;
beforeAll(async () => {
  if (!hasChromium()) return;
  [browser, fixture] = await Promise.all([launch(), openFixture()]);
  await fixture.write({ name: "Robin", text: "Are you open on Saturday?" });
  const body = { message: "What is on today?" };
  await fixture.daemon.request("/webhook", { token: fixture.token, body });
  // As a file of the log that something else wrote to.
  const line = { time: new Date().toISOString(), level: "error", message: HOSTILE, "on<b>": HOSTILE };
  appendFileSync(join(fixture.home, "logs", "svc.log"), `${JSON.stringify(line)}\n${HOSTILE}\n`);
});
beforeEach(needChromium);
afterAll(async () => {
  await browser?.close();
  await fixture?.[Symbol.asyncDispose]();
});

const noMarkup = async (page: Page): Promise<void> => {
  expect(await page.locator("main img").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBe(undefined);
};

describe.each([
  ["a desktop", DESK],
  ["a phone", PHONE],
])("on %s", (_where, viewport) => {
  test("charts tokens by day, split by model, agent and channel", async () => {
    await using person = await signedIn(browser, fixture, { viewport });
    const { page } = person;
    await person.go("usage", "Usage");
    const table = page.getByRole("table");
    await expect.poll(() => table.innerText()).toContain("local");
    expect(await page.locator(".usage-chart .part-0").count()).toBe(1);
    await page.getByLabel("By", { exact: true }).selectOption("channel");
    await expect.poll(() => table.innerText()).toContain("provider_a");
    expect(await table.innerText()).toContain("Page, command line, procedures");
    expect(await page.locator(".usage-chart rect:not(.hover)").count()).toBe(2);
    await page.getByLabel("Show").selectOption("cost");
    await page.getByText(/without a known price are not in the cost/).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    person.expectCalm();
  });

  test("filters the log by level and text, follows it, and shows it as text", async () => {
    await using person = await signedIn(browser, fixture, { viewport });
    const { page } = person;
    await person.go("logs", "Logs");
    const lines = page.getByRole("list", { name: /^Lines of the log/ });
    await expect.poll(() => lines.innerText()).toContain("a turn ended");
    await noMarkup(page);
    await page.getByLabel("At least").selectOption("error");
    await expect.poll(() => lines.innerText()).not.toContain("a turn ended");
    expect(await lines.innerText()).toContain("<img src=x");
    await noMarkup(page);
    await page.getByLabel("At least").selectOption("");
    await page.getByLabel("Contains").fill(`FRESH-${viewport.width}`);
    await page.getByText("No line fits the filter.").waitFor();
    const line = { time: new Date().toISOString(), level: "info", message: `a fresh-${viewport.width} line` };
    appendFileSync(join(fixture.home, "logs", "svc.log"), `${JSON.stringify(line)}\n`);
    await lines.getByText(`a fresh-${viewport.width} line`).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    person.expectCalm();
  });

  test("links a failed check to the setting that fixes it", async () => {
    await using person = await signedIn(browser, fixture, { viewport });
    const { page } = person;
    await person.go("doctor", "Checks");
    const card = page.getByRole("listitem").filter({ hasText: "The price of local is UNKNOWN" });
    await card.waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByLabel(/^Security too/).check();
    await page.getByText("autonomy", { exact: true }).waitFor({ state: "attached" });
    await card.getByRole("link", { name: "Open the setting" }).click();
    await page.getByRole("heading", { level: 1, name: "Prices" }).waitFor();
    person.expectCalm();
  });
});

test("makes a backup from the set-up view, without sending it to the page", async () => {
  await using person = await signedIn(browser, fixture, { viewport: DESK });
  const { page } = person;
  await person.go("setup", "Set up");
  const step = page.getByRole("listitem").filter({ hasText: "Back up" });
  await step.getByText("to do", { exact: true }).waitFor();
  await step.getByRole("button", { name: "Back up now" }).click();
  await step.getByText("done", { exact: true }).waitFor();
  const [name, ...others] = readdirSync(join(fixture.home, "backups"));
  expect(others).toEqual([]);
  expect(await step.innerText()).toContain(name!);
  expect(await seriousFindings(page)).toEqual([]);
  person.expectCalm();
});

test("shows the last messages of a channel and links to its log", async () => {
  await using person = await signedIn(browser, fixture, { viewport: DESK });
  const { page } = person;
  await page.goto(`${fixture.url}/#/channels/provider_a`);
  await expect.poll(() => page.getByRole("table", { name: "Last messages" }).innerText()).toContain("Saturday");
  await page.getByRole("link", { name: "Its log" }).click();
  await page.getByRole("heading", { level: 1, name: "Logs" }).waitFor();
  await expect.poll(() => page.getByRole("list", { name: /^Lines/ }).innerText()).toContain("channel=provider_a");
  person.expectCalm();
});

test("offers a reader none of these views", async () => {
  await using person = await signedIn(browser, fixture, { viewport: DESK, name: "watcher", scope: "read" });
  for (const view of ["usage", "logs", "doctor", "setup"]) await person.go(view, "Not for this device");
  await person.go("overview", "Overview");
  expect(await person.page.getByRole("link", { name: "Logs" }).count()).toBe(0);
  person.expectCalm();
});
