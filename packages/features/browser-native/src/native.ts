/** The backend `native`: an installed Chromium, driven over its pipe by playwright-core in this process. */
import { type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { type BrowserDriver, browserFeature, browserSettings } from "@svc/kit/browser";
import { join } from "node:path";
import { findChromium, removeLeftOvers } from "./chromium.ts";

export const create = (context: FeatureContext): Contributions => browserFeature(context, nativeDriver(context));

function nativeDriver(context: FeatureContext): BrowserDriver {
  const { chromium_path: configured, native_headless: headless } = browserSettings(context);
  const { clock, log, homeFolder } = context;
  const profiles = join(homeFolder, "run", "browser");
  return {
    backend: "rust_native",
    proxied: true,
    async check() {
      await findChromium(configured);
      await removeLeftOvers(profiles);
      if (isRoot()) log.warn("svc runs as root: Chromium runs without its own sandbox; run svc as a user of its own");
    },
    async open({ proxy }) {
      if (proxy === undefined) throw new SvcError("BROWSER_UNAVAILABLE", "The browser has no proxy.");
      const file = await findChromium(configured);
      // Loading the library takes 0.1 s, so it waits until a browser is used.
      const { launchChromium } = await import("./launch.ts");
      return launchChromium({ file, headless, sandbox: !isRoot(), profiles, proxy, clock });
    },
  };
}

/** Chromium's sandbox refuses to work for root. */
const isRoot = (): boolean => process.getuid?.() === 0;
