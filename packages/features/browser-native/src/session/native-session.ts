/** One Chromium, as the tool drives it. */
import { type Clock, SvcError } from "@svc/contract";
import {
  type BrowserAction,
  type DriverCall,
  type DriverFile,
  type DriverResult,
  type DriverSession,
  browserGone,
  elementNotReady,
  pageCrashed,
  pageUnreachable,
  sizeOf,
  staleRef,
} from "@svc/kit/browser";
import type { BrowserContext, Download } from "playwright-core";
import { doAction } from "../actions/actions.ts";
import type { ProfileFolder } from "../chromium/profile-folder.ts";
import type { Tab } from "./tab.ts";
import { Tabs, titleOf } from "./tabs.ts";
import { withinMs } from "./within.ts";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";

export interface SessionSurroundings {
  readonly clock: Clock;
  readonly headless: boolean;
}

/** What actions work with. */
export interface NativeSession extends SessionSurroundings {
  readonly tabs: Tabs;
  readonly desk: DownloadDesk;
  /** A folder of its own for files that are handed to pages; gone with the browser. */
  readonly folder: string;
}

export function nativeSession(
  context: BrowserContext,
  folder: ProfileFolder,
  surroundings: SessionSurroundings,
): DriverSession {
  const desk = new DownloadDesk(folder.downloads, surroundings.clock);
  const tabs: Tabs = new Tabs(context, (download) => {
    if (!desk.offer(download)) tabs.note("The page offered a file; it was turned away. Use download to take one.");
  });
  const session: NativeSession = { ...surroundings, tabs, desk, folder: folder.root };
  const ended = Promise.withResolvers<void>();
  let isEnded = false;
  let closed: Promise<void> | undefined;
  context.on("close", () => {
    isEnded = true;
    ended.resolve();
  });
  const close = async (): Promise<void> => {
    // The library ends a Chromium that does not end by itself, and so does the end of this process.
    await withinMs(context.close(), CLOSE_MS).catch(() => undefined);
    ended.resolve();
    await folder.remove();
  };
  return {
    perform: (action, call) => (isEnded ? Promise.reject(browserGone()) : perform(session, action, call)),
    close: () => (closed ??= close()),
    ended: ended.promise,
  };
}

const CLOSE_MS = 10_000;

async function perform(session: NativeSession, action: BrowserAction, call: DriverCall): Promise<DriverResult> {
  const { tabs } = session;
  const tab = action.action === "open" ? await tabForOpen(session) : await tabs.current();
  try {
    const told = await doAction(action, { session, tab, call });
    const now = told.tab ?? tab;
    return {
      url: now.page.url(),
      title: await titleOf(now),
      dialogs: now.takeDialogs(),
      ...told.result,
      notes: [...(told.result.notes ?? []), ...tabs.takeNotes()],
    };
  } catch (error) {
    call.signal.throwIfAborted();
    if (await hangs(tab)) await giveUp(session, tab);
    throw failureOf(error, tab.failedAddress);
  }
}

/** A page that hangs would keep the next one from coming: it goes first. */
async function tabForOpen(session: NativeSession): Promise<Tab> {
  const tab = await session.tabs.forOpen();
  if (!(await hangs(tab))) return tab;
  await giveUp(session, tab);
  return session.tabs.forOpen();
}

/** A page whose script never ends answers nobody; it is closed, so that the next call meets a fresh tab. */
async function hangs(tab: Tab): Promise<boolean> {
  if (tab.crashed || tab.page.isClosed()) return false;
  const answer = withinMs(tab.page.evaluate("1"), HANGS_MS);
  return answer.then(
    () => false,
    (error: Error) => error.message === "it does not answer",
  );
}

const HANGS_MS = 2000;

async function giveUp({ tabs }: NativeSession, tab: Tab): Promise<void> {
  await tabs.discard(tab);
  tabs.note("A tab whose page did not answer any more was closed.");
}

/** What an error of the library means to the model. Its own text names addresses and repeats selectors, and stays a cause. */
function failureOf(error: unknown, failedAddress: string | undefined): SvcError {
  if (error instanceof SvcError) return error;
  const { name = "", message = "" } = error instanceof Error ? error : {};
  if (name === "TimeoutError") return elementNotReady();
  if (/net::ERR_|chrome-error:/.test(message)) return pageUnreachable(failedAddress);
  if (/crashed/i.test(message)) return pageCrashed();
  if (/browser has been closed|context or browser/i.test(message)) return browserGone();
  if (/not attached|detached|destroyed/i.test(message)) return staleRef();
  if (/Element is not|Node is not/i.test(message)) {
    return new SvcError("BROWSER_FAILED", "The element is not of a kind that can do this.", { cause: error });
  }
  if (/Unknown key/i.test(message)) return new SvcError("BROWSER_FAILED", "There is no key of this name.");
  return new SvcError("BROWSER_FAILED", undefined, { cause: error });
}

/** Files that pages offer: one that was asked for is taken, all others are turned away. */
class DownloadDesk {
  readonly #folder: string;
  readonly #clock: Clock;
  #waiting: ((download: Download) => void) | undefined;

  /** `folder`: where Chromium writes them. */
  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** Whether somebody waits for it. */
  offer(download: Download): boolean {
    const take = this.#waiting;
    this.#waiting = undefined;
    if (take !== undefined) take(download);
    else download.cancel().catch(() => undefined);
    return take !== undefined;
  }

  /** The first file that is offered after `trigger` began. Rejects with what the trigger rejects with, TOO_LARGE, BROWSER_FAILED. */
  async take(trigger: () => Promise<unknown>, call: DriverCall): Promise<DriverFile> {
    const offered = Promise.withResolvers<Download>();
    this.#waiting = offered.resolve;
    const stop = (): void => offered.reject(call.signal.reason);
    call.signal.addEventListener("abort", stop, { once: true });
    const cancel = this.#clock.after(OFFER_MS, () => offered.reject(noFile()));
    offered.promise.catch(() => undefined);
    try {
      await trigger();
      return await this.#finished(await offered.promise, call);
    } finally {
      cancel();
      this.#waiting = undefined;
      call.signal.removeEventListener("abort", stop);
    }
  }

  async #finished(download: Download, { signal, maxFileBytes }: DriverCall): Promise<DriverFile> {
    const watching = new AbortController();
    const tooLarge = this.#watchSize(maxFileBytes, AbortSignal.any([signal, watching.signal]));
    const cancelled = (): void => void download.cancel().catch(() => undefined);
    signal.addEventListener("abort", cancelled, { once: true });
    try {
      const path = download.path();
      path.catch(() => undefined);
      const done = await Promise.race([path, tooLarge]);
      if (typeof done !== "string" || (await stat(done)).size > maxFileBytes) {
        await download.cancel();
        await download.delete().catch(() => undefined);
        throw new SvcError("TOO_LARGE", "The file is larger than a download may be; nothing of it was kept.");
      }
      return { name: download.suggestedFilename(), fill: (write) => filled(done, write) };
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof SvcError
        ? error
        : new SvcError("BROWSER_FAILED", "The download broke off.", { cause: error });
    } finally {
      watching.abort();
      signal.removeEventListener("abort", cancelled);
    }
  }

  /** Resolves when the folder holds more than `maxBytes`; else never, until the signal is aborted. */
  async #watchSize(maxBytes: number, signal: AbortSignal): Promise<undefined> {
    while (!signal.aborted) {
      if ((await sizeOf(this.#folder)) > maxBytes) return undefined;
      await this.#clock.sleep(LOOK_MS, signal).catch(() => undefined);
    }
    return new Promise(() => undefined);
  }
}

/** How long a page may take to offer the file. */
const OFFER_MS = 30_000;
const LOOK_MS = 200;

async function filled(path: string, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  try {
    for await (const chunk of createReadStream(path)) await write(chunk as Uint8Array);
  } finally {
    await rm(path, { force: true });
  }
}

const noFile = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The page offered no file.", {
    hint: "A page that opens is read with snapshot or pdf.",
  });
