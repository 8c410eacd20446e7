// The backend agent_browser keeps what every feature keeps, without the program too.
import { featureConformance } from "@svc/testkit/conformance/feature-conformance";
import { toolConformance } from "@svc/testkit/conformance/tool-conformance";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import definition from "../src/index.ts";
import { agentBrowserPath } from "./installed.ts";

const config = {
  enabled: true,
  backend: "agent_browser",
  allowed_domains: ["example.com"],
  agent_browser_path: agentBrowserPath,
  chromium_path: process.execPath,
  native_headless: true,
  idle_secs: 300,
  computer_use_endpoint: "http://127.0.0.1:8787/v1/actions",
  computer_use_windows: [],
};

featureConformance(definition, {
  root: `${import.meta.dirname}/..`,
  config,
  inputs: { browser: { action: "get_url" } },
});

const { tools = [] } = (await definition.load()).create(
  fakeFeatureContext<unknown>(config, { resolve: async () => ["93.184.215.14"] }),
);
for (const tool of tools) {
  toolConformance(tool, {
    input: { action: "close" },
    badInputs: [{}, { action: "eval" }, { action: "open", url: "" }, { action: "wait", seconds: 1e9 }],
    refused: [
      { input: { action: "snapshot" }, code: "BROWSER_FAILED" },
      { input: { action: "click" }, code: "TOOL_BAD_INPUT" },
      { input: { action: "open", url: "https://evil.test/" }, code: "DOMAIN_REFUSED" },
      { input: { action: "tabs", op: "switch" }, code: "TOOL_BAD_INPUT" },
    ],
  });
}
