/**
 * `pnpm screenshots`: pictures of every view, for docs/guide/dashboard.md, from a daemon with a plausible day behind it. Run
 * `pnpm build` before it, and `pnpm build all`, which has passkeys.
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BrowserContextOptions, Page, Route } from "playwright-core";
import { Authenticator } from "./house/authenticator.ts";
import { launch } from "./house/browser.ts";
import { addPasskey } from "./house/passkey-acts.ts";
import { openPasskeyHouse } from "./house/passkey-house.ts";
import { openHouse } from "./house/house.ts";
import { type Person, signedIn } from "./house/person.ts";
import { seedProcedures } from "./house/procedures.ts";
import { seedActivity } from "./house/seed.ts";
import { VIEWS } from "./house/views.ts";

const FOLDER = join(import.meta.dirname, "../../../docs/images/dashboard");
const DESK = { width: 1080, height: 760 };
const PHONE = { width: 360, height: 720 };

const [browser, house] = await Promise.all([launch(), openHouse(seedProcedures)]);
try {
  await house.rename("Laptop");
  await seedActivity(house);
  rmSync(FOLDER, { recursive: true, force: true });
  mkdirSync(FOLDER, { recursive: true });
  for (const colorScheme of ["light", "dark"] as const) {
    await picturePasskeys(colorScheme);
    await pictures(colorScheme, { colorScheme, viewport: DESK });
    await pictures(`phone-${colorScheme}`, { colorScheme, viewport: PHONE, deviceScaleFactor: 2 });
  }
} finally {
  await browser.close();
  await house[Symbol.asyncDispose]();
}

async function pictures(suffix: string, options: BrowserContextOptions): Promise<void> {
  await using person = await signedIn(browser, house, { reducedMotion: "reduce", ...options });
  await person.context.route("**/api/status", withBusyHour);
  for (const { view, heading } of VIEWS) {
    // All of it is one story: it gets the room.
    if (view === "overview" && options.viewport === DESK) await person.page.setViewportSize({ ...DESK, height: 1270 });
    await person.go(view, heading);
    await take(person.page, `${view === "" ? "chats" : view.replace("/", "-")}-${suffix}`);
    await person.page.setViewportSize(options.viewport ?? DESK);
  }
  await takeDetails(person, suffix);
}

/** The views that one comes to from a list: a run that waits, a conversation, a message that was not delivered. */
async function takeDetails(person: Person, suffix: string): Promise<void> {
  const { page } = person;
  await person.go("procedures", "Procedures");
  await page
    .getByRole("link", { name: /^#\d+ site-release/ })
    .first()
    .click();
  await page.locator("[aria-current=step]").waitFor();
  await take(page, `run-${suffix}`);
  await person.go("inbox?state=dead", "Inbox and dead letters");
  await page.getByRole("link", { name: /^out-/ }).first().click();
  await page.getByRole("heading", { level: 1, name: /Message out-/ }).waitFor();
  await take(page, `message-${suffix}`);
  await takeConversation(person, suffix);
  await person.go("", "Chats");
  await page.getByLabel("Search all messages").fill("release");
  await page.getByRole("list", { name: "Results" }).getByRole("link").first().waitFor();
  await take(page, `search-${suffix}`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("ap");
  await take(page, `palette-${suffix}`);
}

/** One that asks. */
async function takeConversation(person: Person, suffix: string): Promise<void> {
  const { page } = person;
  await person.go("chat", "New chat");
  await page.getByRole("textbox", { name: "Message" }).fill("which files are there?");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: /^Allow once #/ }).waitFor();
  await take(page, `conversation-${suffix}`);
  await page.getByRole("button", { name: /^Reject #/ }).click();
  await page.waitForURL(/#\/sessions\//);
}

/** On a daemon of the build that has them, and by its name. */
async function picturePasskeys(colorScheme: "light" | "dark"): Promise<void> {
  await using withPasskeys = await openPasskeyHouse();
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
  await page
    .getByText(/^(?:Loading|Reading|Checking)…/)
    .first()
    .waitFor({ state: "hidden" });
  // A third of what the same picture is as a PNG.
  const browserSide = await page.context().newCDPSession(page);
  const { data } = await browserSide.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  const bytes = Buffer.from(data, "base64");
  writeFileSync(join(FOLDER, `${name}.webp`), bytes);
  process.stdout.write(`${name}.webp ${Math.round(bytes.length / 1000)} kB\n`);
}

/** An hour can't be seeded in seconds: the picture of it gets one that is like many. */
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
