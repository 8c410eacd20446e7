import { type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { type BrowserDriver, browserFeature, browserSettings } from "@svc/kit/browser";
import { join } from "node:path";
import { checkVersion, findAgentBrowser, findChromium } from "./find-program.ts";
import { browserKeeper, removeLeftOvers } from "./keeper.ts";
import { openAgentSession } from "./session.ts";

export const create = (context: FeatureContext): Contributions => browserFeature(context, agentDriver(context));

/** The backend `agent_browser`: the program agent-browser, which drives an installed Chromium. */
export function agentDriver(context: FeatureContext): BrowserDriver {
  const { agent_browser_path: path, chromium_path: chromiumPath, idle_secs: idleSecs } = browserSettings(context);
  const { clock, log, homeFolder } = context;
  const folders = join(homeFolder, "run", "browser");
  const keeper = browserKeeper(folders, (name) => context.child(name), log);
  return {
    backend: "agent_browser",
    proxied: true,
    // With a password of the proxy the program waits for itself when a click opens a window (agent-browser 0.41.2).
    proxyPassword: false,
    async check(signal) {
      const file = await findAgentBrowser(path);
      log.info("the browser is driven by agent-browser", { version: await checkVersion(file, { clock, signal }) });
      await findChromium(chromiumPath);
      await removeLeftOvers(folders);
      if (isRoot()) log.warn("svc runs as root: Chromium runs without its own sandbox; run svc as a separate user");
    },
    async open({ proxy, signal }) {
      if (proxy === undefined) throw new SvcError("BROWSER_UNAVAILABLE", "The browser has no proxy.");
      const [file, chromium] = await Promise.all([findAgentBrowser(path), findChromium(chromiumPath)]);
      keeper.watch();
      const sandbox = !isRoot();
      return openAgentSession({
        file,
        chromium,
        sandbox,
        folders,
        prefix: keeper.prefix,
        proxy,
        idleSecs,
        clock,
        log,
        signal,
      });
    },
    async shutdown() {
      keeper.end();
    },
  };
}

/** Chromium's sandbox refuses to work for root. */
const isRoot = (): boolean => process.getuid?.() === 0;
