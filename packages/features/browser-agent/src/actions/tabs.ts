import { SvcError } from "@svc/contract";
import type { BrowserAction } from "@svc/kit/browser";
import { failureOf } from "../program/failures.ts";
import type { Outcome, Running } from "./perform.ts";

/** A page that has begun to show but waits for a part of itself is a page. */
export async function open(url: string, { its, options }: Running): Promise<Outcome> {
  const [row] = await its.batch([["open", url]], options);
  if (row === undefined || row.success) return {};
  if (/^Timed out after \d+ms waiting for load/.test(row.error)) return { notes: ["The page is still loading."] };
  throw failureOf(row);
}

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
