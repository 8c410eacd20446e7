/** What a backend of the browser tool does. All else (lists, sessions, limits, files, what the model reads) is the tool's. */
import { type FillFile, SvcError } from "@svc/contract";
import type { BrowserAction } from "./actions.ts";

export interface BrowserDriver {
  /** The name in results, e.g. `rust_native`. */
  readonly backend: string;
  /**
   * Whether its browsers have no way out but the proxy they are handed. Of one that runs elsewhere only the addresses that it
   * reports can be judged.
   */
  readonly proxied: boolean;
  /** False: its browsers can't give the proxy a password, so that any program of this machine may use it. Default: true. */
  readonly proxyPassword?: boolean;
  /** What can be checked before it is needed. Rejects with BROWSER_UNAVAILABLE, which disables the feature. */
  check?(signal: AbortSignal): Promise<void>;
  /**
   * Starts a browser without anyone's cookies, storage or history. Rejects with BROWSER_UNAVAILABLE. One that comes after the
   * signal was aborted is closed at once.
   */
  open(request: OpenRequest): Promise<DriverSession>;
  /** After the last session was closed. Once. */
  shutdown?(): Promise<void>;
}

export interface OpenRequest {
  /** undefined where the driver is not proxied. */
  readonly proxy: ProxyAccess | undefined;
  readonly signal: AbortSignal;
}

/** The way out of one session: no one else knows the password. */
export interface ProxyAccess {
  /** `http://127.0.0.1:<port>`. */
  readonly server: string;
  /** Both are empty where `proxyPassword` is false. */
  readonly username: string;
  readonly password: string;
}

/** The browser of one client. One action at a time. */
export interface DriverSession {
  /**
   * Does what the action says; `open`, `download` and `tabs` new have an address that was let through. When the signal is aborted it stops,
   * and acts no more. Rejects with BROWSER_FAILED (a sentence that says what the model can do), REMOTE_UNREACHABLE where a page
   * can't be had, and with the signal's reason.
   */
  perform(action: BrowserAction, call: DriverCall): Promise<DriverResult>;
  /** Ends the browser with all its processes, and deletes its data. Idempotent. */
  close(): Promise<void>;
  /** Whether the page did not answer the last action. The next `open` then gets a new browser. */
  readonly isStuck?: boolean;
  /** Resolves when the browser is gone, for any reason. */
  readonly ended: Promise<void>;
}

export interface DriverCall {
  readonly signal: AbortSignal;
  /** How long the action may take; the signal is aborted a moment later. */
  readonly timeoutMs: number;
  /** Of `upload`: what `paths` named. */
  readonly files: readonly UploadFile[];
  /** A file of the page's, or made of it, ends where it is larger. */
  readonly maxFileBytes: number;
}

export interface UploadFile {
  /** Without any folder. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface DriverResult {
  /** The page's address now, as the browser says. `about:blank` where it is missing yet. */
  readonly url: string;
  readonly title: string;
  /** What the page says, of snapshot (refs as `[ref=@e3]`), get_text and find. Of any length: the tool cuts it. */
  readonly content?: string;
  readonly tabs?: readonly DriverTab[];
  /** Of screenshot, pdf and download. */
  readonly file?: DriverFile;
  /** Of alert, confirm and prompt: all were dismissed. */
  readonly dialogs?: readonly DriverDialog[];
  /** What else happened, in sentences of the driver's own: a tab was opened, the page still loads. Never the page's words. */
  readonly notes?: readonly string[];
}

export interface DriverTab {
  readonly url: string;
  readonly title: string;
  readonly current: boolean;
}

export interface DriverDialog {
  readonly kind: "alert" | "confirm" | "prompt" | "beforeunload";
  /** The page's words. */
  readonly message: string;
}

export interface DriverFile {
  /** As the page calls it; the tool takes of it what a file's name may have. */
  readonly name: string;
  /** Called once, or not at all. */
  readonly fill: FillFile;
}

/** What drivers say when something can't be done, in the same words anyone who drives. */
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
