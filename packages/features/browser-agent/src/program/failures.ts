/** What a failure of the program means. Its own words may be a page's, and are not repeated. */
import { SvcError } from "@svc/contract";
import { elementNotReady, noSuchElement, pageUnreachable, staleRef } from "@svc/kit/browser";
import type { Row } from "./rows.ts";

export function failureOf({ error, code }: Row): SvcError {
  if (code === "page_wedged" || error.startsWith("CDP command timed out")) return stuck();
  for (const [pattern, failure] of FAILURES) if (pattern.test(error)) return failure();
  return new SvcError("BROWSER_FAILED", "The browser could not do this.", {
    hint: "Take a snapshot to see the page as it is now.",
    cause: new Error(error.slice(0, 500)),
  });
}

/** By their beginnings where what follows can be a page's. agent-browser 0.41.2. */
const FAILURES: readonly (readonly [RegExp, () => SvcError])[] = [
  [/^Unknown ref: /, staleRef],
  [/^Navigation failed: net::ERR_ABORTED/, () => noPage()],
  [/^Navigation failed: /, () => pageUnreachable()],
  [/^Timed out after \d+ms waiting for load/, () => stillLoading()],
  [/^(?:Element not found|No element found|Invalid selector|\d+ elements? )/, noSuchElement],
  [/^(?:Wait timed out|Element is |Element "?\S* ?is (?:not|covered))/, elementNotReady],
  [/^.{0,300}\bcovered by /, elementNotReady],
  [/^No option matched /, () => noOption()],
  [/^Cannot close the last tab/, () => lastTab()],
  [/^Download was canceled/, () => noDownload()],
];

/** Nothing can be told whether the page will ever answer again. */
export class PageStuck extends SvcError {
  constructor(sentence: string) {
    super("BROWSER_FAILED", sentence, { hint: "Open it again, or another one: another browser is started for it." });
  }
}

const stuck = (): SvcError => new PageStuck("The page does not answer any more.");

const noPage = (): SvcError =>
  new SvcError("BROWSER_FAILED", "There is no page at this address: it is a file, or nothing.", {
    hint: "Use download with url to keep a file.",
  });

const stillLoading = (): SvcError => new SvcError("REMOTE_TIMEOUT", "The page did not answer within the time limit.");

const noOption = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The element has no such option.", {
    hint: "A snapshot shows the options of a list.",
  });

const lastTab = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The last tab can't be closed.", { hint: "The action close ends the browser." });

export const noDownload = (): SvcError =>
  new SvcError("BROWSER_FAILED", "No download came of it.", {
    hint: "Only an element that hands out a file can be a target of download.",
  });
