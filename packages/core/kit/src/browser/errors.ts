/** What drivers say when something can't be done, in the same words anyone who drives. */
import { SvcError } from "@svc/contract";

export const staleRef = (): SvcError =>
  new SvcError("BROWSER_FAILED", "This ref is not of the page as it is now: it went stale.", {
    hint: "Take a new snapshot, and use its refs.",
  });

export const noSuchElement = (): SvcError =>
  new SvcError("BROWSER_FAILED", "No element fits the target.", {
    hint: "Take a snapshot, and use a ref of it.",
  });

export const elementNotReady = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The element did not show, or did not become usable, in time.", {
    hint: "Something may lie over it, or it may be disabled. Take a snapshot to see the page as it is now.",
  });

export const pageCrashed = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The page crashed.", { hint: "Open it again, or another one." });

export const browserGone = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The browser has ended.", { hint: "Open a page: another browser is started for it." });

/** `action`: an action's name, or a few words for what the backend can't do. */
export const notSupported = (action: string): SvcError =>
  new SvcError("BROWSER_FAILED", `This backend of the browser can't do ${action}.`);

/** A page that can't be loaded. `address`: the failed one, after redirects; the tool uses it to find a refusal. */
export const pageUnreachable = (address?: string): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", "The page's server could not be reached, or broke the protocol.", {
    cause: address === undefined ? undefined : new FailedAddress(address),
  });

/** Why a page could not be had; never shown to anyone. */
export class FailedAddress extends Error {
  readonly address: string;
  constructor(address: string) {
    super("a page could not be had");
    this.name = "FailedAddress";
    this.address = address;
  }
}
