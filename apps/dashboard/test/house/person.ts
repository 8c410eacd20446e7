/** Somebody with a browser of their own, who is watched for whatever must not happen. */
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { expect } from "vitest";
import type { House } from "./house.ts";

/** What of a house a person comes into contact with. */
export type Door = Pick<House, "url" | "token" | "pairingCode">;

export interface Person extends AsyncDisposable {
  readonly page: Page;
  readonly context: BrowserContext;
  /** Another tab. */
  tab(): Promise<Page>;
  /** Shows a view, and waits until its heading is there. */
  go(view: string, heading: string, page?: Page): Promise<void>;
  /** Requests to other hosts, violations of the policy, errors of the page: none. */
  expectCalm(): void;
}

/** Tells of a violation even where nothing in the console does. */
const WATCH_POLICY = `document.addEventListener("securitypolicyviolation", (event) =>
  console.error("policy violated: " + event.violatedDirective + " " + event.blockedURI));`;

export async function meet(browser: Browser, house: Door, options: BrowserContextOptions = {}): Promise<Person> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, locale: "en-GB", ...options });
  context.setDefaultTimeout(60_000);
  const troubles: string[] = [];
  context.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== house.url && protocol !== "data:") troubles.push(`a request to ${origin}`);
  });
  context.on("weberror", (error) => troubles.push(`an error: ${error.error().message}`));
  context.on("console", (message) => {
    if (/policy/i.test(message.text())) troubles.push(message.text());
  });
  context.on("dialog", (dialog) => {
    troubles.push(`a dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await context.addInitScript({ content: WATCH_POLICY });
  const page = await context.newPage();
  await page.goto(house.url);
  return {
    page,
    context,
    async tab() {
      const tab = await context.newPage();
      await tab.goto(house.url);
      return tab;
    },
    async go(view, heading, on = page) {
      await on.goto(`${house.url}/#/${view}`);
      // The list of chats stands beside the open one, and on a phone alone.
      await on.getByRole("heading", { name: heading, exact: true, ...(view !== "" && { level: 1 }) }).waitFor();
    },
    expectCalm: () => expect(troubles).toEqual([]),
    [Symbol.asyncDispose]: () => context.close(),
  };
}

/** Signed in: the chats, on a phone their list. */
export const atHome = (page: Page): Promise<void> =>
  page.getByRole("heading", { name: "Chats", exact: true }).waitFor();

/** Comes in by the page's own form: with a code, as a device that is made for it. */
export async function signIn(person: Person, house: Door, ...options: readonly string[]): Promise<void> {
  const { page } = person;
  await page.getByLabel("Pairing code").fill(await house.pairingCode(...options));
  await page.keyboard.press("Enter");
  await atHome(page);
}

/** With the token of the house's own device: codes are limited to ten a minute. */
export async function signInByToken({ page }: Person, house: Door): Promise<void> {
  await page.getByText("Use a token instead").click();
  await page.getByLabel("Token").fill(house.token);
  await page.keyboard.press("Enter");
  await atHome(page);
}

export interface As extends BrowserContextOptions {
  /** A device of one's own; without it, the house's. */
  readonly name?: string;
  readonly scope?: string;
}

export async function signedIn(browser: Browser, house: Door, as: As = {}): Promise<Person> {
  const { name, scope = "operator", ...options } = as;
  const person = await meet(browser, house, options);
  if (name === undefined) await signInByToken(person, house);
  else await signIn(person, house, "--name", name, "--scope", scope);
  return person;
}
