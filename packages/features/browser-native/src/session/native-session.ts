/** One Chromium, as the tool drives it. */
import type { Clock } from "@svc/contract";
import {
  type BrowserAction,
  browserGone,
  type DriverCall,
  type DriverResult,
  type DriverSession,
} from "@svc/kit/browser";
import type { BrowserContext } from "playwright-core";
import { doAction } from "../actions/actions.ts";
import type { ProfileFolder } from "../chromium/profile-folder.ts";
import { DownloadDesk } from "./download-desk.ts";
import { failureOf } from "./failures.ts";
import { type Tab } from "./tab.ts";
import { Tabs, titleOf } from "./tabs.ts";
import { withinMs } from "./within.ts";

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
