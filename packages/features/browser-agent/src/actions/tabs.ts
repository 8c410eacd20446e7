import { SvcError } from "@svc/contract";
import { type BrowserAction, pageUnreachable } from "@svc/kit/browser";
import type { Command } from "../program/batch.ts";
import { PageStuck, failureOf } from "../program/failures.ts";
import type { Row } from "../program/rows.ts";
import type { Outcome, Running } from "./perform.ts";

/** A page that has begun to show but waits for a part of itself is a page. */
export async function open(url: string, running: Running): Promise<Outcome> {
  await checkPage(running);
  const [row] = await rowsOf(running, ["open", url]);
  if (row === undefined || row.success) return {};
  if (/^Timed out after \d+ms waiting for load/.test(row.error)) return { notes: ["The page is still loading."] };
  if (row.code === "outcome_unknown") {
    await running.kill();
    throw noAnswer();
  }
  // Only a tunnel that the proxy did not make can be of another host than the one that was asked for.
  if (/^Navigation failed: (?!net::ERR_(?:ABORTED|TUNNEL_CONNECTION_FAILED))/.test(row.error))
    throw pageUnreachable(url);
  throw failureOf(row);
}

/** The page before has to answer, or the next one may never come. Throws PageStuck. */
async function checkPage({ its, options }: Running): Promise<void> {
  const [row] = await its.batch([["eval", "1"]], { ...options, timeoutMs: ANSWER_MS });
  const failure = row === undefined || row.success ? undefined : failureOf(row);
  if (failure instanceof PageStuck) throw failure;
}

/** A page may be busy for that long before it is given up for another one. */
const ANSWER_MS = 5000;

async function rowsOf({ its, options, kill }: Running, command: Command): Promise<readonly Row[]> {
  try {
    return await its.batch([command], options);
  } catch (error) {
    options.signal.throwIfAborted();
    // Nothing stops the program from waiting on: its browser is ended with it.
    await kill();
    throw error instanceof PageStuck ? noAnswer() : error;
  }
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
