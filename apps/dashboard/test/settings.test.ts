// A new service is set up in the page alone, without a terminal or an editor, on a desktop and on a phone.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fakeModelServer } from "@svc/testkit/fake-model/server";
import { startTelegram, TELEGRAM_TOKEN } from "@svc/testkit/platforms/telegram/server";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { seriousFindings } from "./fixture/axe.ts";
import { hasChromium, launch, needChromium } from "./fixture/browser.ts";
import { openEmptyFixture } from "./fixture/empty-fixture.ts";
import { signedIn } from "./fixture/person.ts";

const DESK = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 800 };

let browser: Browser;
beforeAll(async () => {
  if (hasChromium()) browser = await launch();
});
beforeEach(needChromium);
afterAll(() => browser?.close());

const fill = async (page: Page, label: string, value: string): Promise<void> => {
  const field = page.getByLabel(label, { exact: true }).first();
  await field.fill(value);
  await field.blur();
};

async function save(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Review changes" }).click();
  const dialog = page.getByRole("dialog", { name: "Save these changes?" });
  await dialog.getByRole("button", { name: "Save", exact: true }).click();
  await page.getByText("Saved and in force.").waitFor();
}

describe.each([
  ["a desktop", DESK],
  ["a phone", PHONE],
])("on %s", (_where, viewport) => {
  test("sets up a model and a channel in an empty home", async () => {
    await using model = await fakeModelServer({ script: () => ({ text: "Hello from the model" }) });
    await using platform = await startTelegram();
    platform.chats.note({ id: 42, type: "private", first_name: "Ada" }, 1);
    await using fixture = await openEmptyFixture();
    await using person = await signedIn(browser, fixture, { viewport });
    const { page } = person;
    await person.go("overview", "Overview");
    const health = page.getByRole("region", { name: "Health" });
    await health.getByText("Only the built-in echo model answers").waitFor();
    expect(await health.getByText("ok", { exact: true }).count()).toBe(0);
    await health.getByRole("link", { name: "Connect a model" }).click();
    await page.getByRole("heading", { level: 1, name: "Set up" }).waitFor();
    await page.getByText("Only the built-in echo model answers").waitFor();
    await page.getByRole("link", { name: "Connect a model" }).click();
    await page.getByLabel(/^Other compatible/).check();
    await fill(page, "Base URL", model.url);
    await fill(page, "API key", "sk-of-the-journey");
    await fill(page, "Model", "local");
    await page.getByRole("button", { name: "Test", exact: true }).click();
    await page.getByText("local answered in").waitFor();
    await save(page);
    expect(await seriousFindings(page)).toEqual([]);

    await person.go("channels", "Channels");
    await page.getByRole("link", { name: "Telegram" }).click();
    await page.getByRole("heading", { level: 1, name: "Telegram" }).waitFor();
    await fill(page, "Bot token", TELEGRAM_TOKEN);
    await fill(page, "Allowed users", "*");
    await page.getByText("All options").click();
    await fill(page, "API URL", platform.apiUrl);
    await page.getByRole("button", { name: "Turn on" }).click();
    await save(page);
    await page.getByRole("heading", { name: "State", exact: true }).waitFor();
    await expect.poll(() => platform.isPolled).toBe(true);
    expect(await seriousFindings(page)).toEqual([]);
    await fill(page, "To", "42");
    await page.getByRole("button", { name: "Send a test" }).click();
    await page.getByRole("status").getByText("Sent.").waitFor();
    expect(platform.sent).toMatchObject([{ chatId: 42 }]);

    const file = readFileSync(join(fixture.home, "config.toml"), "utf8");
    expect(file).toContain("# of the fixture");
    expect(file).not.toMatch(new RegExp(`sk-of-the-journey|${TELEGRAM_TOKEN}`));
    expect(await page.content()).not.toMatch(new RegExp(`sk-of-the-journey|${TELEGRAM_TOKEN}`));
    await person.go("setup", "Set up");
    await expect.poll(() => page.locator(".checklist .badge.good").count()).toBeGreaterThanOrEqual(2);
    await person.go("overview", "Overview");
    await health.getByText("All parts are up.").waitFor();
    person.expectCalm();
  });

  test("changes a policy, shows the diff, saves and undoes it, and does not overwrite another editor", async () => {
    await using fixture = await openEmptyFixture('\n[security.policy]\nautonomy = "supervised" # asks\n');
    await using person = await signedIn(browser, fixture, { viewport });
    const { page } = person;
    const file = join(fixture.home, "config.toml");
    const before = readFileSync(file, "utf8");
    await person.go("settings/security.policy", "Policy");
    await page.getByLabel("Autonomy").selectOption("read_only");
    await fill(page, "Allowed commands", "git status\ngit log");
    await page.getByRole("button", { name: "Review changes" }).click();
    const diff = page.getByRole("region", { name: "Changes of the file" });
    await expect.poll(() => diff.innerText()).toContain('autonomy = "read_only" # asks');
    expect(await seriousFindings(page)).toEqual([]);
    await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Saved and in force.").waitFor();
    expect(readFileSync(file, "utf8")).toContain('autonomy = "read_only" # asks');
    await page.getByRole("button", { name: "Undo", exact: true }).click();
    await expect.poll(() => readFileSync(file, "utf8")).toBe(before);

    await page.getByLabel("Autonomy").selectOption("full");
    await page.getByRole("button", { name: "Review changes" }).click();
    await expect.poll(() => diff.innerText()).toContain('autonomy = "full"');
    writeFileSync(file, `${before}# by hand\n`);
    await page.getByRole("dialog").getByRole("button", { name: "Save", exact: true }).click();
    await page.getByRole("dialog").getByText("CONFIG_CHANGED").waitFor();
    expect(readFileSync(file, "utf8")).toBe(`${before}# by hand\n`);
    person.expectCalm();
  });

  test("shows why a channel is down, and fixes it on its page", async () => {
    await using platform = await startTelegram();
    const section = `bot_token = "1:wrong"\nallowed_users = ["*"]\napi_url = "${platform.apiUrl}"\n`;
    await using fixture = await openEmptyFixture(`\n[channels_config.telegram]\n${section}`);
    await using person = await signedIn(browser, fixture, { viewport });
    const { page } = person;
    await person.go("overview", "Overview");
    const trouble = page.getByRole("region", { name: "Health" }).getByRole("listitem").filter({ hasText: /token/i });
    await trouble.getByRole("link", { name: "Fix the channel" }).click();
    const state = page.getByRole("region", { name: "State" });
    await expect.poll(() => state.innerText()).toMatch(/token/i);
    await page.getByRole("button", { name: "Replace Bot token" }).click();
    await fill(page, "Bot token", TELEGRAM_TOKEN);
    await save(page);
    await expect.poll(() => state.getByText("running").count()).toBe(1);
    person.expectCalm();
  });
});

test("no value of the config file becomes markup", async () => {
  const attack = '<img src=x onerror=\\"window.hacked=1\\">';
  const config = `
[agents.evil]
instructions = "${attack}"

[prices."${attack}"]
input_per_million = 1
output_per_million = 1

[[security.policy.always]]
agent = "default"
tool = "${attack}"
`;
  await using fixture = await openEmptyFixture(config);
  await using person = await signedIn(browser, fixture, { viewport: DESK });
  const { page } = person;
  for (const [view, heading] of [
    ["settings/agents", "Agents"],
    ["settings/prices", "Prices"],
    ["settings/security.policy", "Policy"],
  ] as const) {
    await person.go(view, heading);
    for (const item of await page.locator(".setting-item > summary").all()) await item.click();
    expect(await page.locator("main img").count()).toBe(0);
  }
  await page.getByLabel("Forbidden paths").fill("<script>window.hacked=1</script>");
  await page.getByLabel("Forbidden paths").blur();
  await page.getByRole("button", { name: "Review changes" }).click();
  await page.getByRole("region", { name: "Changes of the file" }).getByText("<script>").waitFor();
  expect(await page.evaluate("window.hacked")).toBe(undefined);
  person.expectCalm();
});

test("lists a provider's models to choose from; its texts and errors stay text", async () => {
  const attack = "<img src=x onerror=window.hacked=1>";
  const provider = createServer((request, response) => {
    const isList = request.url?.endsWith("/models") === true;
    response.writeHead(isList ? 200 : 401, { "Content-Type": "application/json" });
    const list = { object: "list", data: ["plain-model", attack].map((id) => ({ id, object: "model" })) };
    response.end(JSON.stringify(isList ? list : { error: { message: attack, type: "x", code: null } }));
  });
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void provider.close());
  await using fixture = await openEmptyFixture();
  await using person = await signedIn(browser, fixture, { viewport: DESK });
  const { page } = person;
  await person.go("model", "Model");
  await page.getByLabel(/^Other compatible/).check();
  await fill(page, "Base URL", `http://127.0.0.1:${(provider.address() as AddressInfo).port}/v1`);
  await page.getByRole("button", { name: "List models" }).click();
  const listed = page.getByRole("list", { name: "Models" });
  // What no provider calls a model is left out.
  await expect.poll(() => listed.innerText()).toBe("plain-model");
  await fill(page, "Model", attack);
  await page.getByRole("button", { name: "Test", exact: true }).click();
  await page.getByText("The provider says:").waitFor();
  expect(await seriousFindings(page)).toEqual([]);
  await listed.getByRole("button", { name: "plain-model" }).click();
  await save(page);
  expect(readFileSync(join(fixture.home, "config.toml"), "utf8")).toContain('name = "plain-model"');
  expect(await page.locator("main img").count()).toBe(0);
  expect(await page.evaluate("window.hacked")).toBe(undefined);
  person.expectCalm();
});

test("typed text survives the check of an earlier field", async () => {
  await using fixture = await openEmptyFixture();
  await using person = await signedIn(browser, fixture, { viewport: DESK });
  const { page } = person;
  const checked = Promise.withResolvers<void>();
  await page.route("**/api/settings/preview", async (route) => {
    await checked.promise;
    await route.continue();
  });
  await person.go("settings/gateway", "Network");
  await fill(page, "Host", "127.0.0.2");
  const hosts = page.getByLabel("Allowed hosts");
  await hosts.fill("half a na");
  const answer = page.waitForResponse("**/api/settings/preview");
  checked.resolve();
  await answer;
  await page.getByRole("button", { name: "Review changes" }).and(page.locator(":enabled")).waitFor();
  expect(await hosts.inputValue()).toBe("half a na");
  await hosts.blur();
  await page.getByText("2 changes").waitFor();
  person.expectCalm();
});

test("a reader is offered no settings", async () => {
  await using fixture = await openEmptyFixture();
  await using person = await signedIn(browser, fixture, { viewport: DESK, name: "reader", scope: "read" });
  await person.go("settings", "Not for this device");
  expect(await person.page.getByRole("link", { name: "Model" }).count()).toBe(0);
});
