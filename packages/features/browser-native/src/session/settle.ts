import type { Clock } from "@svc/contract";
import type { Tab } from "./tab.ts";
import { withinMs } from "./within.ts";

/** Gives what an action has set off a moment, and a page that it leads to the time to come; tells whether that still loads. */
export async function settled(tab: Tab, clock: Clock, signal: AbortSignal): Promise<{ loading: boolean }> {
  await clock.sleep(MOMENT_MS, signal);
  try {
    await withinMs(tab.arrival(), ARRIVAL_MS);
    await tab.page.waitForLoadState("domcontentloaded", { timeout: LOAD_MS, signal });
    return { loading: false };
  } catch {
    signal.throwIfAborted();
    return { loading: true };
  }
}

const MOMENT_MS = 100;
const ARRIVAL_MS = 8000;
const LOAD_MS = 4000;
