// The backend computer_use keeps what every feature and every tool keeps.
import { browserConformance } from "@svc/testkit/conformance/browser-conformance";
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeClock } from "@svc/testkit/fake-clock";

import { BROWSER_ACTIONS, browserGuard } from "@svc/kit/browser";
import { computerUseTool } from "../src/computer-use.ts";
import definition from "../src/index.ts";
import { SECTION } from "./open-tool.ts";

featureConformance(definition, {
  root: `${import.meta.dirname}/..`,
  config: SECTION,
  fetch: () => ({
    status: 200,
    headers: { "content-type": "application/json" },
    bytes: Buffer.from('{"success":true}'),
  }),
  inputs: { browser: { action: "get_url" } },
});

const tool = computerUseTool({
  guard: browserGuard(["example.com"], async () => ["93.184.215.14"]),
  clock: fakeClock(),
  service: {
    async perform(_, __, signal) {
      signal.throwIfAborted();
      return { url: undefined, title: undefined, text: "words", image: undefined, screen: undefined };
    },
  },
});

toolConformance(tool, {
  input: { action: "mouse_click", x: 1, y: 2 },
  badInputs: [
    {},
    { action: "snapshot" },
    { action: "mouse_move", x: -1, y: 0 },
    { action: "mouse_move", x: 0.5, y: 0 },
  ],
  refused: [
    { input: { action: "mouse_move", x: 1 }, code: "TOOL_BAD_INPUT" },
    { input: { action: "scroll", x: 1 }, code: "TOOL_BAD_INPUT" },
    { input: { action: "get_url", text: "x" }, code: "TOOL_BAD_INPUT" },
    { input: { action: "open", url: "https://evil.test/" }, code: "DOMAIN_REFUSED" },
  ],
});

// What it does on a page is the service's: of the suite there remains what is refused before the service hears of it.
browserConformance(definition, {
  backend: "computer_use",
  proxied: false,
  config: { backend: "computer_use" },
  lacks: BROWSER_ACTIONS.filter(
    (action) => !["open", "screenshot", "scroll", "wait", "get_url", "get_title"].includes(action),
  ),
});
