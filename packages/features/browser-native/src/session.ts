/** One running Chromium: performs the actions of the tool, and survives pages that hang or crash. */
import { SvcError } from "@svc/contract";
import {
  type BrowserAction,
  type DriverCall,
  type DriverResult,
  type DriverSession,
  browserGone,
  elementNotReady,
  pageCrashed,
  pageUnreachable,
  staleRef,
} from "@svc/kit/browser";
import type { BrowserContext } from "playwright-core";
import { doAction, type NativeSession } from "./actions.ts";
import type { ProfileFolder } from "./chromium.ts";
import { Downloads } from "./downloads.ts";
import { NO_ANSWER, type Tab, Tabs, titleOf, withinMs } from "./tabs.ts";

export function nativeSession(
  context: BrowserContext,
  folder: ProfileFolder,
  { clock, headless }: Pick<NativeSession, "clock" | "headless">,
): DriverSession {
  const downloads = new Downloads(folder.downloads, clock);
  const tabs: Tabs = new Tabs(context, clock, (download) => {
    if (!downloads.offer(download)) tabs.note("The page offered a file; it was refused. Use download to take one.");
  });
  const session: NativeSession = { clock, headless, tabs, downloads, folder: folder.root };
  const ended = Promise.withResolvers<void>();
  let isEnded = false;
  let closed: Promise<void> | undefined;
  context.on("close", () => {
    isEnded = true;
    ended.resolve();
  });
  const close = async (): Promise<void> => {
    // The library kills a Chromium that does not end; so does the end of this process.
    await withinMs(context.close(), CLOSE_MS, clock).catch(() => undefined);
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
    const done = await doAction(action, { session, tab, call });
    const now = done.tab ?? tab;
    return {
      url: now.page.url(),
      title: await titleOf(now, session.clock),
      dialogs: now.takeDialogs(),
      ...done.result,
      notes: [...(done.result.notes ?? []), ...tabs.takeNotes()],
    };
  } catch (error) {
    call.signal.throwIfAborted();
    if (await hangs(tab, session)) await giveUp(session, tab);
    throw failureOf(error, tab.failedAddress);
  }
}

/** A page that hangs would block the next one, so it is closed first. */
async function tabForOpen(session: NativeSession): Promise<Tab> {
  const tab = await session.tabs.forOpen();
  if (!(await hangs(tab, session))) return tab;
  await giveUp(session, tab);
  return session.tabs.forOpen();
}

/** A page whose script never ends does not answer. It is closed, so that the next call gets a fresh tab. */
async function hangs(tab: Tab, { clock }: NativeSession): Promise<boolean> {
  if (tab.crashed || tab.page.isClosed()) return false;
  const answer = withinMs(tab.page.evaluate("1"), HANGS_MS, clock);
  return answer.then(
    () => false,
    (error: unknown) => error === NO_ANSWER,
  );
}

const HANGS_MS = 2000;

async function giveUp({ tabs }: NativeSession, tab: Tab): Promise<void> {
  await tabs.discard(tab);
  tabs.note("A tab whose page did not answer any more was closed.");
}

/** An error of the library as one for the model. The library's text names addresses and repeats selectors: it stays a cause. */
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
