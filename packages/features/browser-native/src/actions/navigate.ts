/** Pages that are opened, and the tabs they are in. */
import { SvcError } from "@svc/contract";
import { pageUnreachable } from "@svc/kit/browser";
import type { Tab } from "../session/tab.ts";
import type { ActionOf, Place, Told } from "./actions.ts";

export async function open({ url }: ActionOf<"open">, place: Place): Promise<Told> {
  return { result: { notes: await goTo(url, place.tab, place) } };
}

export async function tabs({ op, url, tab }: ActionOf<"tabs">, place: Place): Promise<Told> {
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
