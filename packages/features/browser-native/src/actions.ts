/** What each action does on a page. */
import {
  type BrowserAction,
  type BrowserActionName,
  type DriverCall,
  type DriverResult,
  noSuchElement,
  notSupported,
  pageUnreachable,
  staleRef,
} from "@svc/kit/browser";
import type { Downloads } from "./downloads.ts";
import { type Tab, type Tabs, withinMs } from "./tabs.ts";
import { type Clock, SvcError } from "@svc/contract";
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unlessAborted } from "@svc/kit";
import type { Frame, Locator, Page } from "playwright-core";

/** One browser, as actions use it. */
export interface NativeSession {
  readonly clock: Clock;
  readonly headless: boolean;
  readonly tabs: Tabs;
  readonly downloads: Downloads;
  /** Files that actions hand to pages; removed with the browser. */
  readonly folder: string;
}

/** Where an action works. */
export interface Place {
  readonly session: NativeSession;
  readonly tab: Tab;
  readonly call: DriverCall;
}

export interface ActionOutcome {
  /** The page that counts afterwards, where it is another one. */
  readonly tab?: Tab;
  readonly result: Partial<DriverResult>;
}

export type ActionOf<Name extends BrowserActionName> = Extract<BrowserAction, { action: Name }>;

type Actions = {
  readonly [Name in BrowserActionName]: (action: ActionOf<Name>, place: Place) => Promise<ActionOutcome>;
};

const ACTIONS: Actions = {
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
  // The tool returns both with every result.
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

export const doAction = (action: BrowserAction, place: Place): Promise<ActionOutcome> =>
  (ACTIONS[action.action] as (action: BrowserAction, place: Place) => Promise<ActionOutcome>)(action, place);

// Mouse and keyboard. Each action waits until its element is ready, and then for the effects.

async function click({ target, double }: ActionOf<"click">, place: Place): Promise<ActionOutcome> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.click({ ...limits(place), clickCount: double === true ? 2 : 1 });
  return afterwards(place);
}

async function fill({ target, text }: ActionOf<"fill">, place: Place): Promise<ActionOutcome> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.fill(text, limits(place));
  return afterwards(place);
}

async function type({ target, text }: ActionOf<"type">, place: Place): Promise<ActionOutcome> {
  const { page } = place.tab;
  if (target !== undefined) {
    const element = await elementOf(page, target, place.call);
    await element.pressSequentially(text, limits(place));
  } else {
    // One by one: an aborted call stops typing.
    for (const letter of text) {
      place.call.signal.throwIfAborted();
      await page.keyboard.type(letter);
    }
  }
  return afterwards(place);
}

async function press({ target, key }: ActionOf<"press">, place: Place): Promise<ActionOutcome> {
  const { page } = place.tab;
  if (target !== undefined) {
    const element = await elementOf(page, target, place.call);
    await element.press(key, limits(place));
  } else {
    await page.keyboard.press(key);
  }
  return afterwards(place);
}

async function hover({ target }: ActionOf<"hover">, place: Place): Promise<ActionOutcome> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.hover(limits(place));
  return afterwards(place);
}

async function scroll(
  { target, direction = "down", pixels = 600 }: ActionOf<"scroll">,
  place: Place,
): Promise<ActionOutcome> {
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

async function select({ target, values }: ActionOf<"select">, place: Place): Promise<ActionOutcome> {
  const element = await elementOf(place.tab.page, target, place.call);
  await element.selectOption([...values], limits(place));
  return afterwards(place);
}

async function wait({ target, text, seconds }: ActionOf<"wait">, place: Place): Promise<ActionOutcome> {
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

async function afterwards({ tab, session, call }: Place): Promise<ActionOutcome> {
  const { loading } = await settled(tab, session.clock, call.signal);
  return { result: loading ? { notes: ["The page still loads."] } : {} };
}

// Reading a page. The page itself cuts texts, so that a huge one is never transferred.

async function nothing(): Promise<ActionOutcome> {
  return { result: {} };
}

/** More than the tool returns. */
const MAX_TEXT_CHARS = 100_000;

async function snapshot(
  { target, interactive }: ActionOf<"snapshot">,
  { tab: { page }, call }: Place,
): Promise<ActionOutcome> {
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

async function getText({ target }: ActionOf<"get_text">, { tab: { page }, call }: Place): Promise<ActionOutcome> {
  const element = target === undefined ? page.locator("body") : await elementOf(page, target, call);
  const content = await element.evaluate(
    (node, max) => ((node as { innerText?: string }).innerText ?? node.textContent ?? "").slice(0, max),
    MAX_TEXT_CHARS,
    { timeout: call.timeoutMs, signal: call.signal },
  );
  return { result: { content } };
}

async function find(action: ActionOf<"find">, { tab: { page }, call }: Place): Promise<ActionOutcome> {
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

// Files: pictures of the page, downloads, uploads.

async function screenshot(
  { full_page: fullPage = false }: ActionOf<"screenshot">,
  { tab: { page }, call }: Place,
): Promise<ActionOutcome> {
  const options = { type: "png", timeout: call.timeoutMs, signal: call.signal } as const;
  const heightPx = fullPage ? await heightOf(page, call.signal) : 0;
  if (heightPx <= MAX_HEIGHT_PX) return made("screenshot.png", await page.screenshot({ ...options, fullPage }));
  const width = page.viewportSize()?.width ?? 1280;
  const clip = { x: 0, y: 0, width, height: MAX_HEIGHT_PX };
  const { result } = made("screenshot.png", await page.screenshot({ ...options, fullPage, clip }));
  return { result: { ...result, notes: [`The page is longer: only the first ${MAX_HEIGHT_PX} pixels are shown.`] } };
}

/** The most that Chromium can paint at once. */
const MAX_HEIGHT_PX = 16_384;

const heightOf = (page: Page, signal: AbortSignal): Promise<number> =>
  page.locator(":root").evaluate((root) => root.scrollHeight, undefined, { signal });

async function pdf(_: ActionOf<"pdf">, { tab: { page }, session, call }: Place): Promise<ActionOutcome> {
  if (!session.headless) throw notSupported("pdf while it shows a window");
  return made("page.pdf", await unlessAborted(page.pdf({ printBackground: true }), call.signal));
}

const made = (name: string, bytes: Uint8Array): ActionOutcome => ({
  result: { file: { name, fill: (write) => write(bytes) } },
});

async function upload({ target }: ActionOf<"upload">, place: Place): Promise<ActionOutcome> {
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

async function download({ target, url }: ActionOf<"download">, { tab, session, call }: Place): Promise<ActionOutcome> {
  const limit = { timeout: call.timeoutMs, signal: call.signal };
  if (target !== undefined) {
    const element = await elementOf(tab.page, target, call);
    return { result: { file: await session.downloads.take(() => element.click(limit), call) } };
  }
  // In a tab of its own, so that what turns out to be a page does not take the place of this one.
  const aside = await session.tabs.open();
  try {
    const trigger = () =>
      aside.page.goto(url as string, { ...limit, waitUntil: "commit" }).catch((error: Error) => {
        call.signal.throwIfAborted();
        if (!/Download is starting/.test(error.message)) throw pageUnreachable(aside.failedAddress);
      });
    return { result: { file: await session.downloads.take(trigger, call) } };
  } finally {
    await session.tabs.discard(aside);
    session.tabs.select(tab);
  }
}

// Navigation and tabs.

async function open({ url }: ActionOf<"open">, place: Place): Promise<ActionOutcome> {
  return { result: { notes: await goTo(url, place.tab, place) } };
}

async function tabs({ op, url, tab }: ActionOf<"tabs">, place: Place): Promise<ActionOutcome> {
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

/** Waits for the page's text, within the time limit. A page that never ends is read as far as it has arrived. */
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

/** Waits a moment for effects of an action, and for the page that it leads to. Returns whether that page still loads. */
async function settled(tab: Tab, clock: Clock, signal: AbortSignal): Promise<{ loading: boolean }> {
  await clock.sleep(MOMENT_MS, signal);
  try {
    await withinMs(tab.arrival(), ARRIVAL_MS, clock);
    await tab.page.waitForLoadState("domcontentloaded", { timeout: LOADING_MS, signal });
    return { loading: false };
  } catch {
    signal.throwIfAborted();
    return { loading: true };
  }
}

const MOMENT_MS = 100;
const ARRIVAL_MS = 8000;
const LOADING_MS = 4000;

/** The element of a ref, or the only one that matches a CSS selector. */
async function elementOf(page: Page, target: string, { signal }: { signal: AbortSignal }): Promise<Locator> {
  const [, ref] = /^@((?:f[0-9]+)?e[0-9]+)$/.exec(target.trim()) ?? [];
  if (ref !== undefined) {
    const element = page.locator(`aria-ref=${ref}`);
    // Checked first: otherwise the library waits for an old ref, which never comes back.
    const found = await element.count().catch(() => 0);
    signal.throwIfAborted();
    if (found === 0) throw staleRef();
    return element;
  }
  if (target.startsWith("@") || target.includes(">>")) throw noSelector();
  const fitting = page.locator(`css=${target}`);
  const found = await fitting.count().catch(() => {
    throw noSelector();
  });
  if (found === 0) throw noSuchElement();
  if (found > 1) {
    throw new SvcError("BROWSER_FAILED", `The selector fits ${found} elements.`, {
      hint: "Use a ref, or say it closer.",
    });
  }
  return fitting;
}

const noSelector = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The target is neither a ref such as @e3 nor a CSS selector.", {
    hint: "Take a snapshot, and use a ref of it.",
  });
