/** Files of a page: pictures of it, what it offers, what it is given. */
import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { unlessAborted } from "@svc/kit";
import { notSupported, pageUnreachable } from "@svc/kit/browser";
import type { Locator, Page } from "playwright-core";
import { settled } from "../session/settle.ts";
import { elementOf } from "../session/target.ts";
import type { ActionOf, Place, Told } from "./actions.ts";

export async function screenshot(
  { full_page: fullPage = false }: ActionOf<"screenshot">,
  { tab: { page }, call }: Place,
): Promise<Told> {
  const options = { type: "png", timeout: call.timeoutMs, signal: call.signal } as const;
  const heightPx = fullPage ? await heightOf(page, call.signal) : 0;
  if (heightPx <= MAX_HEIGHT_PX) return made("screenshot.png", await page.screenshot({ ...options, fullPage }));
  const width = page.viewportSize()?.width ?? 1280;
  const clip = { x: 0, y: 0, width, height: MAX_HEIGHT_PX };
  const { result } = made("screenshot.png", await page.screenshot({ ...options, fullPage, clip }));
  return { result: { ...result, notes: [`The page is longer: only the first ${MAX_HEIGHT_PX} pixels are shown.`] } };
}

/** What Chromium can paint at once. */
const MAX_HEIGHT_PX = 16_384;

const heightOf = (page: Page, signal: AbortSignal): Promise<number> =>
  page.locator(":root").evaluate((root) => root.scrollHeight, undefined, { signal });

export async function pdf(_: ActionOf<"pdf">, { tab: { page }, session, call }: Place): Promise<Told> {
  if (!session.headless) throw notSupported("pdf while it shows a window");
  return made("page.pdf", await unlessAborted(page.pdf({ printBackground: true }), call.signal));
}

const made = (name: string, bytes: Uint8Array): Told => ({ result: { file: { name, fill: (write) => write(bytes) } } });

export async function upload({ target }: ActionOf<"upload">, place: Place): Promise<Told> {
  const { tab, session, call } = place;
  const paths: string[] = [];
  for (const { name, bytes } of call.files) {
    // Each in a folder of its own: two files may have one name. The page sees the name alone.
    const folder = join(session.folder, "uploads", randomUUID());
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(join(folder, name), bytes, { mode: 0o600 });
    paths.push(join(folder, name));
  }
  const element = await elementOf(tab.page, target, call);
  const limit = { timeout: call.timeoutMs, signal: call.signal };
  if (await isFileInput(element)) {
    await element.setInputFiles(paths, limit);
  } else {
    const [chooser] = await Promise.all([tab.page.waitForEvent("filechooser", limit), element.click(limit)]);
    await chooser.setFiles(paths, limit);
  }
  await settled(tab, session.clock, call.signal);
  return { result: {} };
}

const isFileInput = (element: Locator): Promise<boolean> =>
  element.evaluate((node) => node.matches('input[type="file"]'));

export async function download({ target, url }: ActionOf<"download">, { tab, session, call }: Place): Promise<Told> {
  const limit = { timeout: call.timeoutMs, signal: call.signal };
  if (target !== undefined) {
    const element = await elementOf(tab.page, target, call);
    return { result: { file: await session.desk.take(() => element.click(limit), call) } };
  }
  // In a tab of its own, so that what turns out to be a page does not take the place of this one.
  const aside = await session.tabs.open();
  try {
    const trigger = () =>
      aside.page.goto(url as string, { ...limit, waitUntil: "commit" }).catch((error: Error) => {
        call.signal.throwIfAborted();
        if (!/Download is starting/.test(error.message)) throw pageUnreachable(aside.failedAddress);
      });
    return { result: { file: await session.desk.take(trigger, call) } };
  } finally {
    await session.tabs.discard(aside);
    session.tabs.select(tab);
  }
}
