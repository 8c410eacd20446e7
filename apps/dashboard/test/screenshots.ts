/**
 * `pnpm screenshots`: pictures of every view, for docs/guide/dashboard.md, from a daemon with a plausible day behind it. Run
 * `pnpm build` before it, and `pnpm build all`, which has passkeys. `pnpm screenshots --language de,zh-Hans --folder /tmp/pictures` takes them
 * in other languages, to be looked at.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import type { BrowserContextOptions, Page, Route } from "playwright-core";
import { type Language, LANGUAGES } from "../src/texts/texts.ts";
import { Authenticator } from "./fixture/authenticator.ts";
import { launch } from "./fixture/browser.ts";
import { addPasskey } from "./fixture/passkey-actions.ts";
import { openPasskeyFixture } from "./fixture/passkey-fixture.ts";
import { openFixture } from "./fixture/fixture.ts";
import { signedIn } from "./fixture/person.ts";
import { seedProcedures } from "./fixture/procedures.ts";
import { seedActivity } from "./fixture/seed.ts";
import { show, speak } from "./fixture/switch-language.ts";
import { VIEWS } from "./fixture/views.ts";

const DOCS = join(import.meta.dirname, "../../../docs/images/dashboard");
const { values } = parseArgs({ options: { language: { type: "string" }, folder: { type: "string" } } });
const languages = LANGUAGES.filter((language) => (values.language ?? "en").split(",").includes(language));
if (values.language !== undefined && values.folder === undefined) throw new Error("--language needs a --folder.");
const FOLDER = values.folder ?? DOCS;
const DESK = { width: 1080, height: 760 };
const PHONE = { width: 360, height: 720 };

const [browser, fixture] = await Promise.all([launch(), openFixture(seedProcedures)]);
try {
  await fixture.rename("Laptop");
  await seedActivity(fixture);
  if (FOLDER === DOCS) rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const language of languages) {
    for (const colorScheme of ["light", "dark"] as const) {
      const suffix = language === "en" ? colorScheme : `${language}-${colorScheme}`;
      if (language === "en") await picturePasskeys(colorScheme);
      await pictures(suffix, language, { colorScheme, viewport: DESK });
      await pictures(`phone-${suffix}`, language, { colorScheme, viewport: PHONE, deviceScaleFactor: 2 });
    }
  }
} finally {
  await browser.close();
  await fixture[Symbol.asyncDispose]();
}

async function pictures(suffix: string, language: Language, options: BrowserContextOptions): Promise<void> {
  await using person = await signedIn(browser, fixture, { reducedMotion: "reduce", ...options });
  const { page } = person;
  await person.context.route("**/api/status", withBusyHour);
  await speak(page, language);
  for (const { view } of VIEWS) {
    // The conversation needs the whole screen.
    if (view === "overview" && options.viewport === DESK) await page.setViewportSize({ ...DESK, height: 1270 });
    await show(page, view);
    await take(page, `${view === "" ? "chats" : view.replace("/", "-")}-${suffix}`);
    await page.setViewportSize(options.viewport ?? DESK);
  }
  await takeDetails(page, suffix);
}

/** Views that are linked from a list: a waiting run, a conversation, an undelivered message. */
async function takeDetails(page: Page, suffix: string): Promise<void> {
  await show(page, "procedures");
  await page.locator("main a[href^='#/runs/']").first().click();
  await page.locator("[aria-current=step]").waitFor();
  await take(page, `run-${suffix}`);
  await show(page, "inbox?state=dead");
  await page.locator("main a[href^='#/inbox/out-']").first().click();
  await page.locator("main .facts").waitFor();
  await take(page, `message-${suffix}`);
  await takeConversation(page, suffix);
  await show(page, "");
  await page.locator("#chat-search").fill("release");
  await page.locator(".found a").first().waitFor();
  await take(page, `search-${suffix}`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("a");
  await take(page, `palette-${suffix}`);
}

/** One that asks. */
async function takeConversation(page: Page, suffix: string): Promise<void> {
  await show(page, "chat");
  await page.locator(".chat-box textarea").fill("which files are there?");
  await page.keyboard.press("Enter");
  await page.locator(".answers .main").waitFor();
  await take(page, `conversation-${suffix}`);
  await page.locator(".answers .danger").click();
  await page.waitForURL(/#\/sessions\//);
}

/** On a daemon of the build that has them, and by its name. */
async function picturePasskeys(colorScheme: "light" | "dark"): Promise<void> {
  await using withPasskeys = await openPasskeyFixture();
  const options = { reducedMotion: "reduce", colorScheme, viewport: { ...DESK, height: 420 } } as const;
  await using person = await signedIn(browser, withPasskeys, { name: "Laptop", ...options });
  const authenticator = await Authenticator.plugInto(person.page);
  for (const name of ["This laptop", "Key on the ring"]) {
    await addPasskey(person, name);
    // Of several, each is on an authenticator of its own.
    for (const credential of await authenticator.stored()) await authenticator.forget(credential);
  }
  await person.page.locator(".announcements p").waitFor({ state: "detached" });
  await take(person.page, `passkeys-${colorScheme}`);
}

async function take(page: Page, name: string): Promise<void> {
  await page.locator(".reading").first().waitFor({ state: "detached" });
  // A third of what the same picture is as a PNG.
  const browserSide = await page.context().newCDPSession(page);
  const { data } = await browserSide.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  const bytes = Buffer.from(data, "base64");
  writeFileSync(join(FOLDER, `${name}.webp`), bytes);
  process.stdout.write(`${name}.webp ${Math.round(bytes.length / 1000)} kB\n`);
}

/** An hour of traffic can't be seeded in seconds: this one is made up. */
async function withBusyHour(route: Route): Promise<void> {
  const response = await route.fetch();
  const status = (await response.json()) as { activity: { minutes: Record<string, unknown>[] } };
  const minutes = status.activity.minutes.map((minute, index) => {
    const received = Math.round(4 + 3 * Math.sin(index / 7) + 2 * Math.sin(index * 2.3));
    const failed = index === 21 || index === 22 ? 2 : 0;
    return { ...minute, received, answered: Math.max(0, received - failed), delivered: received, failed };
  });
  await route.fulfill({ response, json: { ...status, activity: { minutes } } });
}
