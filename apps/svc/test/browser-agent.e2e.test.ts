// The browser through agent-browser in the minimal binary: an agent opens a page and reads it, what is off the list is
// refused, a picture of the page is in the workspace, and neither the program nor Chromium outlives the daemon, however that ends.
import { fileURLToPath } from "node:url";
import { binaryPath } from "@svc/testkit/binary/spawn-binary";
import { startBinary } from "@svc/testkit/binary/start-binary";
import { expect, test } from "vitest";
import { browserTests } from "./browser-tests.ts";
import { homeWith } from "./daemon.ts";

/** As npm installs it; the package that drives it has it for its tests. */
const PROGRAM = fileURLToPath(
  new URL("../../../packages/features/browser-agent/node_modules/agent-browser/bin/agent-browser.js", import.meta.url),
);

browserTests({
  name: "agent_browser",
  binary: binaryPath(),
  browser: `agent_browser_path = "${PROGRAM}"`,
  keepers: 1,
});

test("without the program the browser alone is out of service, and how to install it is told", async () => {
  using home = homeWith('[browser]\nenabled = true\nagent_browser_path = "/nowhere/agent-browser"\n');
  await using daemon = await startBinary({ binary: binaryPath(), home: home.path });
  await daemon.waitFor(/There is no program at browser\.agent_browser_path/);
  expect((await daemon.request("/health")).status).toBe(200);
});
