/** How long an agent waits for a page: from the tool call until the first snapshot is there, with a real Chromium. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { type ClientId, type Contributions, type FeatureDefinition, type Json, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { fullestBinaryPath } from "@svc/testkit/binary/spawn-binary";
import { fakeToolContext } from "@svc/testkit/fake-tool-context";
import { fakeFeatureContext } from "@svc/testkit/feature-context";
import { temporaryHome } from "@svc/testkit/temporary-home";
import browserAgent from "@svc/browser-agent";
import browserNative from "@svc/browser-native";
import { median } from "../measure.ts";

const CHROMIUM = "/usr/bin/chromium";
const AGENT_BROWSER = fileURLToPath(import.meta.resolve("agent-browser/bin/agent-browser.js"));

export interface BrowserTimes {
  readonly backend: string;
  /** open and snapshot, with a browser that has to be started. */
  readonly coldMs: number;
  /** The same in one that is there. */
  readonly warmMs: number;
}

/** The library alone, without a proxy, lists or sessions, stands beside them. */
export async function measureBrowser(rounds: number): Promise<BrowserTimes[]> {
  const server = createServer((_, response) => {
    response.writeHead(200, { "content-type": "text/html" });
    response.end(`<title>Bench</title>${"<p>A paragraph</p><button>Press</button>".repeat(50)}`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/`;
  try {
    return [
      await bare(url, rounds),
      await backend(browserNative, "native", url, rounds),
      await backend(browserAgent, "agent_browser", url, rounds),
    ];
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function bare(url: string, rounds: number): Promise<BrowserTimes> {
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    const startedAt = performance.now();
    const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
    const page = await browser.newPage();
    const look = async (): Promise<void> => {
      await page.goto(url, { waitUntil: "domcontentloaded" });
      await page.ariaSnapshot({ mode: "ai" });
    };
    await look();
    cold.push(performance.now() - startedAt);
    const again = performance.now();
    await look();
    warm.push(performance.now() - again);
    await browser.close();
  }
  return { backend: "playwright-core alone", coldMs: median(cold), warmMs: median(warm) };
}

async function backend(
  definition: FeatureDefinition,
  name: string,
  url: string,
  rounds: number,
): Promise<BrowserTimes> {
  using home = temporaryHome();
  const section: unknown = {
    enabled: true,
    backend: name,
    allowed_domains: ["127.0.0.1"],
    native_headless: true,
    chromium_path: CHROMIUM,
    agent_browser_path: AGENT_BROWSER,
    idle_secs: 300,
  };
  const child = (program: string) => [fullestBinaryPath(), `__${program}`] as const;
  const resolve = async (): Promise<readonly string[]> => ["127.0.0.1"];
  const context = fakeFeatureContext(section, { clock: systemClock as never, homeFolder: home.path, resolve, child });
  const made = (await definition.load()).create(context);
  await made.register?.(new AbortController().signal);
  const [cold, warm]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    cold.push(await looked(made, url));
    warm.push(await looked(made, url));
    await call(made, { action: "close" });
  }
  await made.shutdown?.();
  return { backend: name, coldMs: median(cold), warmMs: median(warm) };
}

async function looked(made: Contributions, url: string): Promise<number> {
  const startedAt = performance.now();
  await call(made, { action: "open", url });
  await call(made, { action: "snapshot" });
  return performance.now() - startedAt;
}

function call({ tools = [] }: Contributions, input: Json): Promise<Json> {
  const [tool] = tools;
  if (tool === undefined) throw new SvcError("TOOL_UNKNOWN");
  return tool.run(input, { ...fakeToolContext(), clientId: "bench" as ClientId });
}
