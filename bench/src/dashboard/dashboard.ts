/** How long a person waits for the page: from the navigation until the first list is drawn, in a real browser. */
import { chromium, type Page } from "playwright-core";
import { startGateway } from "../gateway.ts";
import { median } from "../measure.ts";

const CHROMIUM = "/usr/bin/chromium";

export interface Dashboard {
  /** Nothing in the browser's cache. */
  readonly coldMs: number;
  /** Script and styles are cached. */
  readonly warmMs: number;
  readonly scriptGzipKb: number;
}

/** A list is drawn when a frame with it has been presented: two frames after it came into the document. */
const WATCH = `new MutationObserver((_changes, observer) => {
  if (document.querySelector("main table, main .figures") === null) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.drawnMs = performance.now(); }));
}).observe(document, { childList: true, subtree: true });`;

export async function measureDashboard(rounds: number): Promise<Dashboard> {
  const gateway = await startGateway(0);
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    const page = await browser.newPage();
    await page.addInitScript({ content: WATCH });
    await signIn(page, `http://127.0.0.1:${gateway.port}/`, gateway.token);
    const network = await page.context().newCDPSession(page);
    const samples = { cold: [] as number[], warm: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      for (const kind of ["cold", "warm"] as const) {
        await network.send("Network.setCacheDisabled", { cacheDisabled: kind === "cold" });
        samples[kind].push(await reloaded(page));
      }
    }
    return { coldMs: median(samples.cold), warmMs: median(samples.warm), scriptGzipKb: await scriptSize(gateway.port) };
  } finally {
    await browser.close();
    await gateway.stop();
  }
}

async function signIn(page: Page, url: string, token: string): Promise<void> {
  await page.goto(url);
  await page.getByText("Use a token instead").click();
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  // The sign-in is with the service worker when a reload no longer asks for it.
  await page.waitForTimeout(500);
}

async function reloaded(page: Page): Promise<number> {
  await page.reload();
  const drawn = page.locator("html[data-drawn-ms]");
  await drawn.waitFor();
  return Number(await drawn.getAttribute("data-drawn-ms"));
}

async function scriptSize(port: number): Promise<number> {
  const origin = `http://127.0.0.1:${port}`;
  const page = await (await fetch(origin)).text();
  const scripts = [...page.matchAll(/<script[^>]* src="([^"]+)"/g)].map((match) => match[1] ?? "");
  const sizes = scripts.map(async (path) => {
    const answer = await fetch(origin + path, { headers: { "accept-encoding": "gzip" } });
    await answer.body?.cancel();
    return Number(answer.headers.get("content-length"));
  });
  return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0) / 1000;
}
