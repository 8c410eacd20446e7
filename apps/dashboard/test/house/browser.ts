/** Debian's Chromium, driven by playwright-core: one for all tests, a context for each person. */
import { existsSync } from "node:fs";
import { requireReal } from "@svc/testkit/require-real";
import { type Browser, type BrowserContext, chromium } from "playwright-core";
import type { TestContext } from "vitest";

const CHROMIUM = "/usr/bin/chromium";

/** No network of its own: what the page asks for is all there is. */
const ARGUMENTS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  // The last of this switch wins: playwright's own features, and the popups of the address bar, two pages that take half of a start.
  `--disable-features=${[
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
  ].join(",")}`,
];

export const hasChromium = (): boolean => existsSync(CHROMIUM);

export function needChromium(context: TestContext): void {
  if (!hasChromium()) {
    requireReal(context, { name: "chromium", reason: `no ${CHROMIUM}; apt-get install chromium` });
  }
}

export const launch = (): Promise<Browser> => chromium.launch({ executablePath: CHROMIUM, args: ARGUMENTS });

/** One whose microphone is Chromium's own: it beeps once a second, and is asked for without a question. */
export const launchWithMicrophone = (): Promise<Browser> =>
  chromium.launch({
    executablePath: CHROMIUM,
    args: [...ARGUMENTS, "--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"],
  });

/** A browser with a profile on disk, as a person has it: what it stores is there when it starts again. */
export const launchProfile = (folder: string): Promise<BrowserContext> =>
  chromium.launchPersistentContext(folder, { executablePath: CHROMIUM, args: ARGUMENTS });
