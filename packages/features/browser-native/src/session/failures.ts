import { SvcError } from "@svc/contract";
import { browserGone, elementNotReady, pageCrashed, pageUnreachable, staleRef } from "@svc/kit/browser";

/** What an error of the library means to the model. Its own text names addresses and repeats selectors, and stays a cause. */
export function failureOf(error: unknown, failedAddress: string | undefined): SvcError {
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
