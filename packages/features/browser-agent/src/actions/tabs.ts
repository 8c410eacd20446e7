import { SvcError } from "@svc/contract";
import { type BrowserAction, pageUnreachable } from "@svc/kit/browser";
import { PageStuck, failureOf } from "../program/failures.ts";
import type { Outcome, Running } from "./perform.ts";

/** A page that has begun to show but waits for a part of itself is a page. */
export async function open(url: string, { its, options, kill }: Running): Promise<Outcome> {
  const [row] = await its.batch([["open", url]], options).catch(async (error: unknown) => {
    options.signal.throwIfAborted();
    // Nothing stops the program from waiting on: its browser is ended with it.
    await kill();
    throw error instanceof PageStuck ? noAnswer() : error;
  });
  if (row === undefined || row.success) return {};
  if (/^Timed out after \d+ms waiting for load/.test(row.error)) return { notes: ["The page is still loading."] };
  if (row.code === "outcome_unknown") {
    await kill();
    throw noAnswer();
  }
  // Only a tunnel that the proxy did not make can be of another host than the one that was asked for.
  if (/^Navigation failed: (?!net::ERR_(?:ABORTED|TUNNEL_CONNECTION_FAILED))/.test(row.error))
    throw pageUnreachable(url);
  throw failureOf(row);
}

const noAnswer = (): SvcError =>
  new SvcError("REMOTE_TIMEOUT", "The page did not answer within the time limit; the browser was closed.", {
    hint: "Open another page: another browser is started for it.",
  });

export async function tabs(
  { op, url, tab }: Extract<BrowserAction, { action: "tabs" }>,
  { run, page, options }: Running,
): Promise<Outcome> {
  if (op === "new") await run(["tab", "new", ...(url === undefined ? [] : [url])]);
  if (op === "switch" || op === "close") {
    // Places may have changed since: a tab has closed itself.
    await page.look(options);
    const id = page.tabId(tab ?? 0);
    if (id === undefined) throw noTab();
    await run(op === "switch" ? ["tab", id] : ["tab", "close", id]);
  }
  return {};
}

const noTab = (): SvcError =>
  new SvcError("BROWSER_FAILED", "There is no tab of this number.", { hint: "tabs list tells the numbers." });
