// The backend agent_browser drives a real Chromium through the real program, against hostile sites on this machine.
import { browserConformance } from "@svc/testkit/conformance/browser-conformance";
import definition from "../src/index.ts";
import { agentBrowserPath, keeperChild, missing } from "./installed.ts";

browserConformance(definition, {
  backend: "agent_browser",
  proxied: true,
  config: { agent_browser_path: agentBrowserPath, chromium_path: "/usr/bin/chromium" },
  child: keeperChild,
  missing,
});
