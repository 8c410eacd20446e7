/** What each action does on a page. */
import {
  type BrowserAction,
  type BrowserActionName,
  type DriverCall,
  type DriverResult,
  noSuchElement,
  notSupported,
  pageUnreachable,
} from "@svc/kit/browser";
import type { NativeSession } from "../session/native-session.ts";
import type { Tab } from "../session/tab.ts";
import { SvcError } from "@svc/contract";
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unlessAborted } from "@svc/kit";
import type { Frame, Locator, Page } from "playwright-core";
import { settled } from "../session/settle.ts";
import { elementOf } from "../session/target.ts";

/** What a person does with hands. Each waits until its element can be used, and then for what it has set off. */
async function click({ target, double }: ActionOf<"click">, place: Place): Promise<Told> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.click({ ...limits(place), clickCount: double === true ? 2 : 1 });
  return afterwards(place);
}

async function fill({ target, text }: ActionOf<"fill">, place: Place): Promise<Told> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.fill(text, limits(place));
  return afterwards(place);
}

async function type({ target, text }: ActionOf<"type">, place: Place): Promise<Told> {
  const { page } = place.tab;
  if (target !== undefined) {
    const element = await elementOf(page, target, place.call);
    await element.pressSequentially(text, limits(place));
  } else {
    // One by one: what is stopped writes no further.
    for (const letter of text) {
      place.call.signal.throwIfAborted();
      await page.keyboard.type(letter);
    }
  }
  return afterwards(place);
}

async function press({ target, key }: ActionOf<"press">, place: Place): Promise<Told> {
  const { page } = place.tab;
  if (target !== undefined) {
    const element = await elementOf(page, target, place.call);
    await element.press(key, limits(place));
  } else {
    await page.keyboard.press(key);
  }
  return afterwards(place);
}

async function hover({ target }: ActionOf<"hover">, place: Place): Promise<Told> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.hover(limits(place));
  return afterwards(place);
}

async function scroll({ target, direction = "down", pixels = 600 }: ActionOf<"scroll">, place: Place): Promise<Told> {
  const { page } = place.tab;
  if (target !== undefined) {
    const element = await elementOf(page, target, place.call);
    await element.scrollIntoViewIfNeeded(limits(place));
    // Moved to it only: how far it goes from there is asked for by a direction.
    return afterwards(place);
  }
  const [right, down] = STEPS[direction];
  await page.mouse.wheel(right * pixels, down * pixels);
  return afterwards(place);
}

const STEPS = { up: [0, -1], down: [0, 1], left: [-1, 0], right: [1, 0] } as const;

async function select({ target, values }: ActionOf<"select">, place: Place): Promise<Told> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.selectOption([...values], limits(place));
  return afterwards(place);
}

async function wait({ target, text, seconds }: ActionOf<"wait">, place: Place): Promise<Told> {
  const { page } = place.tab;
  const { signal } = place.call;
  const limit = { timeout: seconds === undefined ? place.call.timeoutMs : seconds * 1000, signal };
  // What is waited for may not be there yet: neither a selector nor a text has to fit anything now.
  if (target !== undefined) {
    const element = target.startsWith("@") ? await elementOf(page, target, place.call) : page.locator(`css=${target}`);
    await element.first().waitFor({ ...limit, state: "visible" });
  } else if (text !== undefined) {
    await page
      .getByText(text)
      .first()
      .waitFor({ ...limit, state: "visible" });
  } else if (seconds !== undefined) {
    await place.session.clock.sleep(seconds * 1000, signal);
  }
  return afterwards(place);
}

const limits = ({ call }: Place) => ({ timeout: call.timeoutMs, signal: call.signal });

async function afterwards({ tab, session, call }: Place): Promise<Told> {
  const { loading } = await settled(tab, session.clock, call.signal);
  return { result: loading ? { notes: ["The page still loads."] } : {} };
}

/** What is on a page. Texts are cut in the page already: a huge one never comes over whole. */
const nothing = async (): Promise<Told> => ({ result: {} });

/** More than the tool tells. */
const MAX_TEXT_CHARS = 100_000;

async function snapshot({ target, interactive }: ActionOf<"snapshot">, { tab: { page }, call }: Place): Promise<Told> {
  const options = { mode: "ai", timeout: call.timeoutMs, signal: call.signal } as const;
  const root = target === undefined ? page : await elementOf(page, target, call);
  const tree = withRefs(await root.ariaSnapshot(options));
  return { result: { content: interactive === true ? onlyInteractive(tree) : tree } };
}

/** `[ref=e3]` of the library is `@e3` of the tool. */
const withRefs = (tree: string): string => tree.replaceAll(/\[ref=(?=(?:f[0-9]+)?e[0-9]+\])/g, "[ref=@");

const INTERACTIVE: ReadonlySet<string | undefined> = new Set([
  "button",
  "link",
  "textbox",
  "searchbox",
  "checkbox",
  "radio",
  "combobox",
  "listbox",
  "option",
  "menuitem",
  "menuitemcheckbox",
  "menuitemradio",
  "tab",
  "slider",
  "spinbutton",
  "switch",
  "treeitem",
]);

const isInteractive = (line: string): boolean =>
  line.includes("[cursor=pointer]") || (line.includes("[ref=") && INTERACTIVE.has(/^\s*- ['"]?(\w+)/.exec(line)?.[1]));

const onlyInteractive = (tree: string): string =>
  tree
    .split("\n")
    .filter(isInteractive)
    .map((line) => line.trimStart())
    .join("\n");

async function getText({ target }: ActionOf<"get_text">, { tab: { page }, call }: Place): Promise<Told> {
  const element = target === undefined ? page.locator("body") : await elementOf(page, target, call);
  const content = await element.evaluate(
    (node, max) => ((node as { innerText?: string }).innerText ?? node.textContent ?? "").slice(0, max),
    MAX_TEXT_CHARS,
    { timeout: call.timeoutMs, signal: call.signal },
  );
  return { result: { content } };
}

async function find(action: ActionOf<"find">, { tab: { page }, call }: Place): Promise<Told> {
  const options = { mode: "ai", timeout: call.timeoutMs, signal: call.signal } as const;
  const found: string[] = [];
  for (const frame of page.frames().slice(0, MAX_FRAMES)) {
    const fitting = locatorOf(frame, action);
    const count = await fitting.count();
    for (let index = 0; index < count && found.length < MAX_FOUND; index += 1) {
      const element = fitting.nth(index);
      if (!(await element.isVisible())) continue;
      found.push(firstLine(withRefs(await element.ariaSnapshot(options))));
    }
  }
  if (found.length === 0) throw noSuchElement();
  // The last snapshot is the one that refs are of: the whole page again, in which they are the same.
  await page.ariaSnapshot(options);
  return { result: { content: found.join("\n") } };
}

const MAX_FRAMES = 20;
const MAX_FOUND = 20;

const firstLine = (tree: string): string => tree.slice(0, 500).split("\n", 1)[0] ?? "";

function locatorOf(frame: Frame, { by, value, name }: ActionOf<"find">): Locator {
  if (by === "label") return frame.getByLabel(value);
  if (by === "text") return frame.getByText(value);
  return frame.getByRole(value as Parameters<Frame["getByRole"]>[0], name === undefined ? {} : { name });
}

/** Files of a page: pictures of it, what it offers, what it is given. */
async function screenshot(
  { full_page: fullPage = false }: ActionOf<"screenshot">,
  { tab: { page }, call }: Place,
): Promise<Told> {
  const options = { type: "png", timeout: call.timeoutMs, signal: call.signal } as const;
  const heightPx = fullPage ? await heightOf(page, call.signal) : 0;
  if (heightPx <= MAX_HEIGHT_PX) return made("screenshot.png", await page.screenshot({ ...options, fullPage }));
  const width = page.viewportSize()?.width ?? 1280;
  const clip = { x: 0, y: 0, width, height: MAX_HEIGHT_PX };
  const { result } = made("screenshot.png", await page.screenshot({ ...options, fullPage, clip }));
  return { result: { ...result, notes: [`The page is longer: only the first ${MAX_HEIGHT_PX} pixels are shown.`] } };
}

/** What Chromium can paint at once. */
const MAX_HEIGHT_PX = 16_384;

const heightOf = (page: Page, signal: AbortSignal): Promise<number> =>
  page.locator(":root").evaluate((root) => root.scrollHeight, undefined, { signal });

async function pdf(_: ActionOf<"pdf">, { tab: { page }, session, call }: Place): Promise<Told> {
  if (!session.headless) throw notSupported("pdf while it shows a window");
  return made("page.pdf", await unlessAborted(page.pdf({ printBackground: true }), call.signal));
}

const made = (name: string, bytes: Uint8Array): Told => ({ result: { file: { name, fill: (write) => write(bytes) } } });

async function upload({ target }: ActionOf<"upload">, place: Place): Promise<Told> {
  const { tab, session, call } = place;
  const paths: string[] = [];
  for (const { name, bytes } of call.files) {
    // Each in a folder of its own: two files may have one name. The page sees the name alone.
    const folder = join(session.folder, "uploads", randomUUID());
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, name), bytes, { mode: 0o600 });
    paths.push(join(folder, name));
  }
  const element = await elementOf(tab.page, target, call);
  const limit = { timeout: call.timeoutMs, signal: call.signal };
  if (await isFileInput(element)) {
    await element.setInputFiles(paths, limit);
  } else {
    const [chooser] = await Promise.all([tab.page.waitForEvent("filechooser", limit), element.click(limit)]);
    await chooser.setFiles(paths, limit);
  }
  await settled(tab, session.clock, call.signal);
  return { result: {} };
}

const isFileInput = (element: Locator): Promise<boolean> =>
  element.evaluate((node) => node.matches('input[type="file"]'));

async function download({ target, url }: ActionOf<"download">, { tab, session, call }: Place): Promise<Told> {
  const limit = { timeout: call.timeoutMs, signal: call.signal };
  if (target !== undefined) {
    const element = await elementOf(tab.page, target, call);
    return { result: { file: await session.desk.take(() => element.click(limit), call) } };
  }
  // In a tab of its own, so that what turns out to be a page does not take the place of this one.
  const aside = await session.tabs.open();
  try {
    const trigger = () =>
      aside.page.goto(url as string, { ...limit, waitUntil: "commit" }).catch((error: Error) => {
        call.signal.throwIfAborted();
        if (!/Download is starting/.test(error.message)) throw pageUnreachable(aside.failedAddress);
      });
    return { result: { file: await session.desk.take(trigger, call) } };
  } finally {
    await session.tabs.discard(aside);
    session.tabs.select(tab);
  }
}

/** Pages that are opened, and the tabs they are in. */
async function open({ url }: ActionOf<"open">, place: Place): Promise<Told> {
  return { result: { notes: await goTo(url, place.tab, place) } };
}

async function tabs({ op, url, tab }: ActionOf<"tabs">, place: Place): Promise<Told> {
  const { tabs } = place.session;
  if (op === "close") await tabs.close(tab as number);
  if (op === "list" || op === "close") {
    const now = await tabs.current();
    return { tab: now, result: { tabs: await tabs.list() } };
  }
  const now = op === "switch" ? tabs.switchTo(tab as number) : await tabs.open();
  const notes = url === undefined ? [] : await goTo(url, now, place);
  return { tab: now, result: { tabs: await tabs.list(), notes } };
}

/** Until the page's text is there, or as long as it may take: one that never ends is read as far as it came. */
async function goTo(url: string, { page, failedAddress }: Tab, { call }: Place): Promise<string[]> {
  const { timeoutMs, signal } = call;
  const response = await page
    .goto(url, { waitUntil: "commit", timeout: timeoutMs - LOAD_MS, signal })
    .catch((error) => {
      signal.throwIfAborted();
      throw navigationFailure(error, failedAddress);
    });
  const notes: string[] = [];
  const status = response?.status() ?? 200;
  if (status >= 400) notes.push(`The server answered with status ${status}.`);
  await page.waitForLoadState("domcontentloaded", { timeout: LOAD_MS, signal }).catch(() => {
    signal.throwIfAborted();
    notes.push("The page still loads; what is there can be read.");
  });
  return notes;
}

const LOAD_MS = 8000;

function navigationFailure(error: unknown, address: string | undefined): unknown {
  const { name, message } = error as Error;
  if (name === "TimeoutError") return new SvcError("REMOTE_TIMEOUT", "The page's server did not answer in time.");
  if (/Download is starting/.test(message)) {
    return new SvcError("BROWSER_FAILED", "The address is a file, not a page.", { hint: "Use download with url." });
  }
  return /net::ERR_/.test(message) ? pageUnreachable(address) : error;
}

/** Where an action works. */
export interface Place {
  readonly session: NativeSession;
  readonly tab: Tab;
  readonly call: DriverCall;
}

export interface Told {
  /** The page that counts afterwards, where it is another one. */
  readonly tab?: Tab;
  readonly result: Partial<DriverResult>;
}

export type ActionOf<Name extends BrowserActionName> = Extract<BrowserAction, { action: Name }>;

type Doing = { readonly [Name in BrowserActionName]: (action: ActionOf<Name>, place: Place) => Promise<Told> };

const DOING: Doing = {
  open,
  snapshot,
  click,
  fill,
  type,
  press,
  hover,
  scroll,
  select,
  wait,
  get_text: getText,
  // The tool tells both of every page.
  get_title: nothing,
  get_url: nothing,
  find,
  screenshot,
  upload,
  download,
  pdf,
  tabs,
  // The tool ends the whole session.
  close: nothing,
};

export const doAction = (action: BrowserAction, place: Place): Promise<Told> =>
  (DOING[action.action] as (action: BrowserAction, place: Place) => Promise<Told>)(action, place);
