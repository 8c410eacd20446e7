// Approvals on a desktop and a phone: requested on one, answered on the other; always allowed, not requested
// again, revoked, requested again. Hostile characters in a command are visible.
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { ModelRequest } from "@svc/testkit/fake-model/server";
import type { ModelStep } from "@svc/testkit/fake-model/step";
import { seriousFindings } from "./fixture/axe.ts";
import { hasChromium, launch, needChromium } from "./fixture/browser.ts";
import { type Fixture, openFixture } from "./fixture/fixture.ts";
import { type Person, signedIn } from "./fixture/person.ts";

const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true };
const COMMAND = "echo from-the-tool";

function answers({ body }: ModelRequest): ModelStep {
  const last = ((body["messages"] ?? []) as readonly { readonly role: string; readonly content: unknown }[]).at(-1);
  const text = JSON.stringify(last?.content ?? "");
  if (last?.role === "tool") return { text: text.includes("TOOL_REJECTED") ? "It was rejected." : "It is done." };
  if (text.includes("the file")) {
    return { calls: [{ name: "file_write", input: { path: "notes.md", content: "one\ntwo, changed\nthree\n" } }] };
  }
  if (text.includes("hide")) return { calls: [{ name: "shell", input: { command: "echo 'a\u202eb' <img src=x>" } }] };
  return { calls: [{ name: "shell", input: { command: COMMAND } }] };
}

let browser: Browser;
let fixture: Fixture;

beforeAll(async () => {
  if (!hasChromium()) return;
  const seed = (home: string): void => {
    appendFileSync(join(home, "config.toml"), '\n[security.sandbox]\nbackend = "none"\n');
    writeFileSync(join(home, "workspace", "notes.md"), "one\ntwo\nthree\n");
  };
  [browser, fixture] = await Promise.all([launch(), openFixture(seed, answers)]);
});
beforeEach(needChromium);
afterAll(async () => {
  await browser?.close();
  await fixture?.[Symbol.asyncDispose]();
});

const say = async ({ page }: Person, text: string): Promise<void> => {
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill(text);
  await box.press("Enter");
};
const answered = (person: Person, text: string, times: number): Promise<void> =>
  expect.poll(() => person.page.getByRole("list", { name: "Messages" }).getByText(text).count()).toBe(times);

test("a call requested on the desktop is always allowed on the phone, and asks again after the phone revokes the rule", async () => {
  await using desktop = await signedIn(browser, fixture, { name: "desktop" });
  await using phone = await signedIn(browser, fixture, { name: "phone", ...PHONE });
  await phone.go("approvals", "Approvals");
  await desktop.go("chat", "New chat");
  await say(desktop, "run it");

  const card = phone.page.getByRole("article", { name: /^Approval #/ }).first();
  await card.getByRole("heading", { name: "Run a command?" }).waitFor();
  expect(await card.getByRole("group", { name: /^Command/ }).innerText()).toBe(COMMAND);
  await expect.poll(() => phone.page.title()).toBe("(1) Approvals · svc");
  await expect.poll(() => desktop.page.title()).toMatch(/^\(1\) /);
  // The pattern stands there before it can be chosen.
  const always = card.getByRole("button", { name: /^Always allow/ });
  expect(await always.isVisible()).toBe(false);
  await card.getByText("Allow for longer").click();
  await card.getByText(`shell: ${COMMAND}`).first().waitFor();
  expect(await seriousFindings(phone.page)).toEqual([]);
  await always.click();

  await answered(desktop, "It is done.", 1);
  await card.getByText(", always").waitFor();
  const rule = phone.page.getByRole("article", { name: `Always allowed: shell: ${COMMAND}` });
  await rule.waitFor();
  await expect.poll(() => phone.page.title()).toBe("Approvals · svc");

  await desktop.page.waitForURL(/#\/sessions\//);
  await say(desktop, "run it again");
  await answered(desktop, "It is done.", 2);
  expect(await desktop.page.getByRole("button", { name: /^Allow once/ }).count()).toBe(0);

  await rule.getByRole("button", { name: /^Revoke/ }).click();
  await rule.waitFor({ state: "detached" });
  await say(desktop, "run it once more");
  await desktop.page.getByRole("button", { name: /^Reject #/ }).click();
  await answered(desktop, "It was rejected.", 1);
  await desktop.page.getByText("rejected", { exact: true }).first().waitFor();
  expect(await desktop.page.getByText("failed", { exact: true }).count()).toBe(0);
  desktop.expectCalm();
  phone.expectCalm();
});

test("a file change is shown as a diff and allowed for the conversation", async () => {
  await using person = await signedIn(browser, fixture);
  const { page } = person;
  await person.go("chat", "New chat");
  await say(person, "write the file");
  const card = page.getByRole("article", { name: /^Approval #/ });
  await card.getByRole("heading", { name: "Write a file?" }).waitFor();
  const change = card.getByRole("group", { name: /^Change/ });
  expect(await change.locator(".removed").innerText()).toMatch(/^-two\s*$/);
  expect(await change.locator(".added").innerText()).toMatch(/^\+two, changed\s*$/);
  await card.getByText("Allow for longer").click();
  await card.getByRole("button", { name: /^Allow in this conversation/ }).click();
  await answered(person, "It is done.", 1);
  await page.waitForURL(/#\/sessions\//);
  await say(person, "write the file again");
  await answered(person, "It is done.", 2);
  person.expectCalm();
});

test("invisible characters of a command are shown by number, and its keys and tags do nothing", async () => {
  await using person = await signedIn(browser, fixture);
  const { page } = person;
  await person.go("chat", "New chat");
  await say(person, "hide something");
  const card = page.getByRole("article", { name: /^Approval #/ });
  const command = card.getByRole("group", { name: /^Command/ });
  expect(await command.innerText()).toBe("echo 'a⟨U+202E⟩b' <img src=x>");
  await card.getByText(/can be allowed only once/).waitFor();
  expect(await card.locator("img").count()).toBe(0);
  // The keyboard answers on the card, and not while feedback is typed.
  await card.getByLabel("Feedback (optional)").fill("");
  await card.getByLabel("Feedback (optional)").pressSequentially("ra");
  expect(await card.getByRole("button", { name: /^Reject/ }).count()).toBe(1);
  await command.focus();
  await page.keyboard.press("r");
  await answered(person, "It was rejected.", 1);
  person.expectCalm();
});

test("the page can be installed, and its worker caches nothing and answers no request", async () => {
  const manifest = await fixture.daemon.request("/manifest.webmanifest");
  expect(manifest.headers.get("content-type")).toBe("application/manifest+json");
  const { icons } = (await manifest.json()) as { icons: { src: string; type: string }[] };
  for (const { src, type } of icons) {
    const icon = await fixture.daemon.request(src);
    expect([icon.status, icon.headers.get("content-type")]).toEqual([200, type]);
  }
  await using person = await signedIn(browser, fixture);
  await person.context.grantPermissions(["notifications"], { origin: fixture.url });
  await person.go("approvals", "Approvals");
  await person.page.reload();
  await person.page.getByRole("button", { name: "Notify me in this browser" }).click();
  await person.page.getByRole("button", { name: "Turn notifications off" }).waitFor();
  await person.page.reload();
  await person.page.getByRole("heading", { level: 1, name: "Approvals" }).waitFor();
  const kept = await person.page.evaluate(async () => ({
    caches: await caches.keys(),
    isControlled: navigator.serviceWorker.controller !== null,
  }));
  expect(kept.caches).toEqual([]);
  const worker = await (await fixture.daemon.request("/sw.js")).text();
  expect(worker).not.toMatch(/addEventListener\("fetch"|caches|indexedDB/);
  person.expectCalm();
});
