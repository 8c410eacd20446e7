/** How often a device may change and try settings. */
import { SlidingWindow } from "../limits/sliding-window.ts";

/** By device. A preview loads the whole config; a test may cost money or write to a person. */
export interface SettingsLimits {
  readonly changes: SlidingWindow;
  readonly tests: SlidingWindow;
}

const MINUTE_MS = 60_000;

export const settingsLimits = (): SettingsLimits => ({
  changes: new SlidingWindow({ limit: 240, windowMs: MINUTE_MS, maxKeys: 0 }),
  tests: new SlidingWindow({ limit: 20, windowMs: MINUTE_MS, maxKeys: 0 }),
});
