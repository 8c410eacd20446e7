import type { Contributions, FeatureContext } from "@svc/contract";
import { browserTool } from "./browser-tool.ts";
import type { BrowserDriver } from "./driver.ts";
import { browserGuard } from "./guard.ts";
import { browserSessions } from "./sessions.ts";
import type { BrowserSettings } from "./settings.ts";

/** A browser backend's feature without its driver. Its definition extends `browser` without keys, to receive the whole section. */
export function browserFeature(context: FeatureContext, driver: BrowserDriver): Contributions {
  const settings = browserSettings(context);
  const { clock, log } = context;
  const guard = browserGuard(settings.allowed_domains, (url) => context.resolve(url));
  const sessions = browserSessions({ driver, guard, clock, log, idleMs: settings.idle_secs * 1000 });
  return {
    tools: [browserTool({ driver, guard, sessions, clock })],
    async register(signal) {
      signal.throwIfAborted();
      if (settings.allowed_domains.length === 0) log.warn("no allowed_domains configured: the browser opens no page");
      await driver.check?.(signal);
    },
    async shutdown() {
      await sessions.shutdown();
      await driver.shutdown?.();
    },
  };
}

/** The section, as the kernel has validated it. */
export const browserSettings = (context: FeatureContext): BrowserSettings => context.config as BrowserSettings;
