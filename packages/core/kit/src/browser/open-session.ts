/** A driver's browser with the proxy that guards it. */
import { type Clock, type Logger, SvcError } from "@svc/contract";
import { unlessAborted } from "../async/abort.ts";
import type { BrowserDriver, DriverSession } from "./driver.ts";
import type { BrowserGuard } from "./guard.ts";
import { type GuardingProxy, startGuardingProxy } from "./proxy/guarding-proxy.ts";

export interface OpenSession {
  readonly driver: DriverSession;
  /** undefined where the driver is not proxied. */
  readonly proxy: GuardingProxy | undefined;
  /** Sentences for the next result. */
  readonly notes: string[];
  readonly ended: Promise<void>;
  /** Resolves once nothing acts in it any more: after the work that `busyUntil` was told of. */
  settled(): Promise<void>;
  /** Work that goes on although nobody waits for its result. */
  busyUntil(work: Promise<unknown>): void;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface OpenSessionOptions {
  readonly driver: BrowserDriver;
  readonly guard: BrowserGuard;
  readonly clock: Clock;
  readonly log: Logger;
}

export async function openSession(options: OpenSessionOptions, signal: AbortSignal): Promise<OpenSession> {
  const { driver, guard, clock, log } = options;
  signal.throwIfAborted();
  const proxy = driver.proxied
    ? await startGuardingProxy({ guard, clock, log, password: driver.proxyPassword })
    : undefined;
  let opened: DriverSession;
  try {
    opened = await openedBy(driver, proxy, signal);
  } catch (error) {
    await proxy?.close();
    throw error;
  }
  let busy: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    await opened.close().catch((error: unknown) => log.warn("a browser could not be closed", { error: nameOf(error) }));
    await proxy?.close();
  };
  return {
    driver: opened,
    proxy,
    notes: [],
    ended: opened.ended,
    settled: async () => void (await busy),
    busyUntil: (work) => (busy = Promise.allSettled([busy, work])),
    close: () => (closed ??= close()),
  };
}

/** Whoever stops waiting leaves no browser behind that comes up later. */
async function openedBy(
  driver: BrowserDriver,
  proxy: GuardingProxy | undefined,
  signal: AbortSignal,
): Promise<DriverSession> {
  const opening = driver.open({ proxy: proxy?.access, signal });
  try {
    return await unlessAborted(opening, signal);
  } catch (cause) {
    if (signal.aborted) opening.then((late) => late.close()).catch(() => undefined);
    signal.throwIfAborted();
    throw cause instanceof SvcError ? cause : new SvcError("BROWSER_UNAVAILABLE", undefined, { cause });
  }
}

const nameOf = (error: unknown): string => (error instanceof Error ? error.name : "unknown");
