/** One action in an open browser: with a timeout, and with the resulting page checked before the model reads any of it. */
import { type Clock, type Json, SvcError, type ToolContext } from "@svc/contract";
import { withTimeout } from "../async/timeout.ts";
import type { BrowserAction, BrowserActionName } from "./actions.ts";
import type { BrowserDriver, DriverResult, UploadFile } from "./driver.ts";
import { FailedAddress } from "./errors.ts";
import { keepFile, MAX_FILE_BYTES } from "./files.ts";
import { type BrowserGuard, shownHost } from "./guard.ts";
import { newestOfPage, type Refusal } from "./guarding-proxy.ts";
import { judgePage } from "./judge.ts";
import { resultOf } from "./result.ts";
import type { OpenSession } from "./sessions.ts";

export interface CallParts {
  readonly driver: BrowserDriver;
  readonly guard: BrowserGuard;
  readonly clock: Clock;
}

export async function performIn(
  session: OpenSession,
  action: BrowserAction,
  files: readonly UploadFile[],
  context: ToolContext,
  parts: CallParts,
): Promise<Json> {
  const { driver, guard, clock } = parts;
  const before = session.proxy?.mark() ?? 0;
  const refusals = () => session.proxy?.since(before) ?? [];
  let result: DriverResult;
  try {
    result = await timed(session, action, files, context.signal, clock);
  } catch (error) {
    context.signal.throwIfAborted();
    // A browser also makes requests of its own: a page that loaded and hangs was not stopped by a refusal.
    const opens = "url" in action && session.driver.isStuck !== true;
    // The page failed because its host, or a host it redirects to, was refused.
    const refusal = opens && isUnreachable(error) ? refusalOf(error, refusals()) : undefined;
    throw (
      refusal?.error ??
      (error instanceof SvcError ? error : new SvcError("BROWSER_FAILED", undefined, { cause: error }))
    );
  }
  const verdict = judgePage(result.url, guard, refusals());
  if (verdict.error !== undefined) {
    // The proxy blocked all of a refused page. A browser that got such a page another way is closed.
    if (!verdict.proxied) await session.close();
    throw verdict.error;
  }
  const file = result.file && (await keepFile(result.file, context, clock));
  const notes = [...session.notes.splice(0), ...(result.notes ?? [])];
  return resultOf({ action: action.action, backend: driver.backend, result, file, notes, refusals: refusals() });
}

/** Matches by the failed host, if the driver knows it: a browser also makes requests of its own. */
function refusalOf({ cause }: SvcError, refusals: readonly Refusal[]): Refusal | undefined {
  if (!(cause instanceof FailedAddress) || !URL.canParse(cause.address)) return newestOfPage(refusals);
  const host = shownHost(new URL(cause.address).hostname);
  return refusals.findLast((refusal) => refusal.host === host);
}

const isUnreachable = (error: unknown): error is SvcError =>
  error instanceof SvcError && (error.code === "REMOTE_UNREACHABLE" || error.code === "BROWSER_FAILED");

/** The driver is to keep to the time by itself; one that does not is stopped, and so is one whose caller gives up. */
async function timed(
  session: OpenSession,
  action: BrowserAction,
  files: readonly UploadFile[],
  signal: AbortSignal,
  clock: Clock,
): Promise<DriverResult> {
  const timeoutMs = timeLimitMs(action);
  const limit = { clock, timeoutMs: timeoutMs + LATE_MS, signal, error: () => tooLate(action.action) };
  return withTimeout(limit, (given) => {
    const work = session.driver.perform(action, { signal: given, timeoutMs, files, maxFileBytes: MAX_FILE_BYTES });
    given.addEventListener("abort", () => session.busyUntil(stopped(work, session, clock)), { once: true });
    return work;
  });
}

/** An action that goes on after it was stopped must not act later: its browser is ended with it. */
async function stopped(work: Promise<unknown>, session: OpenSession, clock: Clock): Promise<void> {
  const grace = Promise.withResolvers<void>();
  const cancel = clock.after(LATE_MS, () => {
    void session.close().then(grace.resolve);
  });
  await Promise.race([work.catch(() => undefined), grace.promise]);
  cancel();
}

const LATE_MS = 2000;

/** How long each action may take. */
function timeLimitMs(action: BrowserAction): number {
  if (action.action === "wait") return (action.seconds ?? 0) * 1000 + TIME_LIMITS_MS.usual;
  if (action.action === "open" || action.action === "tabs") return TIME_LIMITS_MS.open;
  return action.action === "download" ? TIME_LIMITS_MS.download : TIME_LIMITS_MS.usual;
}

const TIME_LIMITS_MS = { open: 30_000, download: 120_000, usual: 15_000 } as const;

const tooLate = (action: BrowserActionName): SvcError =>
  action === "open"
    ? new SvcError("REMOTE_TIMEOUT", "The page did not answer within the time limit.")
    : new SvcError("BROWSER_FAILED", "The browser did not finish this within the time limit.", {
        hint: "Take a snapshot to see the page as it is now.",
      });
