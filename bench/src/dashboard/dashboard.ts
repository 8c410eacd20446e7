/** How long a person waits for the page, in a real browser: with 10 000 conversations of 100 000 messages behind it. */
import { chromium, type Page } from "playwright-core";
import { type BenchGateway, BINARY, paired, startDaemon } from "../gateway.ts";
import { median } from "../measure.ts";
import { startServer } from "../server.ts";
import { LONG, pacedModel, seedConversations } from "./conversations.ts";

const CHROMIUM = "/usr/bin/chromium";

export interface Dashboard {
  /** Until the first list is drawn; nothing in the browser's cache. */
  readonly coldMs: number;
  /** Script and styles are cached. */
  readonly warmMs: number;
  readonly firstViewKb: number;
  /** Search of all messages. */
  readonly searchMs: number;
  readonly searchP99Ms: number;
  /** While a conversation of 500 messages grows by 200 tokens a second. */
  readonly framesPerSecond: number;
  readonly frameP99Ms: number;
  /** An answer of 230 000 pieces, from the message until its last word is drawn. */
  readonly hugeMs: number;
}

/** A list is drawn when a frame with it has been presented: two frames after it came into the document. */
const WATCH = `new MutationObserver((_changes, observer) => {
  if (document.querySelector(".chat-row") === null) return;
  observer.disconnect();
  requestAnimationFrame(() => requestAnimationFrame(() => { document.documentElement.dataset.drawnMs = performance.now(); }));
}).observe(document, { childList: true, subtree: true });`;

/** Resolves with the time between frames, in milliseconds. */
const FRAMES = `new Promise((resolve) => {
  const gaps = [];
  let last = performance.now();
  const look = (now) => {
    gaps.push(now - last);
    last = now;
    if (gaps.length < 300) requestAnimationFrame(look);
    else resolve(gaps.slice(1));
  };
  requestAnimationFrame(look);
})`;

const HUGE_PIECES = 230_000;
const QUERIES = ["invoice", "boiler closed", '"paid on Monday"', "garden 7", "rou", "settled number"] as const;

export async function measureDashboard(rounds: number): Promise<Dashboard> {
  let pace: { pieces: number; perSecond?: number } = { pieces: 2_000, perSecond: 200 };
  const model = await pacedModel(() => pace);
  const config = `[model]\nprovider = "openai-compatible"\nname = "m"\nbase_url = "${model.url}"\napi_key = "k"\n`;
  const first = await paired(await startDaemon(`${config}[gateway]\nwebhook_rate_limit_per_minute = 0\n`));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  try {
    await first.pause();
    await seedConversations(first.home);
    const env = { ...process.env, SVC_HOME: first.home, SVC__GATEWAY__PORT: "0" };
    const gateway: BenchGateway = { ...first, ...(await startServer([BINARY, "daemon"], env)) };
    const searches = await searched(gateway, rounds);
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
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
    await network.send("Network.setCacheDisabled", { cacheDisabled: true });
    const firstViewKb = await firstViewSize(page);
    const frames = await framesWhileAnswered(page);
    pace = { pieces: HUGE_PIECES };
    const hugeMs = await hugeAnswer(page);
    await gateway.stop();
    return {
      coldMs: median(samples.cold),
      warmMs: median(samples.warm),
      firstViewKb,
      searchMs: median(searches),
      searchP99Ms: quantile(searches, 0.99),
      framesPerSecond: 1000 / (frames.reduce((sum, ms) => sum + ms, 0) / frames.length),
      frameP99Ms: quantile(frames, 0.99),
      hugeMs,
    };
  } finally {
    await browser.close();
    model.close();
    first.remove();
  }
}

const quantile = (samples: readonly number[], part: number): number =>
  samples.toSorted((a, b) => a - b)[Math.floor(samples.length * part)]!;

async function searched({ port, token }: BenchGateway, rounds: number): Promise<number[]> {
  const samples: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    for (const query of QUERIES) {
      const beganAt = performance.now();
      const url = `http://127.0.0.1:${port}/api/sessions/search?limit=30&q=${encodeURIComponent(query)}`;
      const answer = await fetch(url, { headers: { authorization: `Bearer ${token}` } });
      const { results } = (await answer.json()) as { readonly results?: readonly unknown[] };
      if (!results?.length) throw new Error(`nothing was found for ${query}`);
      samples.push(performance.now() - beganAt);
    }
  }
  return samples;
}

async function signIn(page: Page, url: string, token: string): Promise<void> {
  await page.goto(url);
  await page.getByText("Use a token instead").click();
  await page.getByLabel("Token").fill(token);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Chats" }).waitFor();
  await page.locator(".chat-row").first().waitFor();
}

async function reloaded(page: Page): Promise<number> {
  await page.reload();
  const drawn = page.locator("html[data-drawn-ms]");
  await drawn.waitFor();
  return Number(await drawn.getAttribute("data-drawn-ms"));
}

async function framesWhileAnswered(page: Page): Promise<number[]> {
  await page.getByRole("link", { name: LONG }).first().click();
  await page.getByRole("heading", { level: 1, name: LONG }).waitFor();
  const earlier = page.getByRole("button", { name: "Show earlier messages" });
  while ((await page.locator(".bubble").count()) < 500) {
    const before = await page.locator(".bubble").count();
    await earlier.click();
    await page.locator(".bubble").nth(before).waitFor();
  }
  await say(page, "Answer at length.");
  await page.locator(".bubble.assistant .working").waitFor();
  const frames = await page.evaluate<number[]>(FRAMES);
  await page.getByRole("button", { name: "Send", exact: true }).waitFor({ timeout: 60_000 });
  return frames;
}

async function hugeAnswer(page: Page): Promise<number> {
  const ends = await page.locator(".bubble.assistant").count();
  const beganAt = performance.now();
  await say(page, "Answer without an end.");
  await page.locator(".bubble.assistant .working").waitFor();
  await page.locator(".bubble.assistant .working").waitFor({ state: "detached", timeout: 120_000 });
  await page.locator(".bubble.assistant").nth(ends).waitFor();
  return performance.now() - beganAt;
}

async function say(page: Page, text: string): Promise<void> {
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill(text);
  await box.press("Enter");
}

/** Of what an empty cache is filled with until the first list is drawn: kilobytes as sent. */
async function firstViewSize(page: Page): Promise<number> {
  await reloaded(page);
  const bytes = await page.evaluate<number>(
    `performance.getEntriesByType("resource").filter(({ name }) => /\\.(js|css)$/.test(name))
      .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`,
  );
  return bytes / 1000;
}
