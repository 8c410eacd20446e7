import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { type BrowserAction, sizeOf } from "@svc/kit/browser";
import { noDownload } from "../program/failures.ts";
import { handedOver } from "./files.ts";
import type { Outcome, Running } from "./perform.ts";
import { elementOf } from "./target.ts";

/** The file that comes when an element is clicked, or that is at an address. */
export async function download(
  { target, url }: Extract<BrowserAction, { action: "download" }>,
  running: Running,
): Promise<Outcome> {
  const { folder, call, run } = running;
  // What pages have downloaded without being asked is nobody's.
  for (const name of await readdir(folder.downloads)) await rm(join(folder.downloads, name), { force: true });
  if (url === undefined) await run(["click", elementOf(target ?? "")]);
  else await ask(url, running);
  const name = await arrived(running);
  return { file: await handedOver(join(folder.downloads, name), name, call.maxFileBytes) };
}

/**
 * In a tab of its own, at the site that has the file: a link's `download` is only obeyed within one site, and makes a file of what
 * would be shown.
 */
async function ask(url: string, { its, options }: Running): Promise<void> {
  const script = `(() => { const link = document.createElement("a"); link.href = ${JSON.stringify(url)}; link.download = ""; link.click(); return true; })()`;
  // A site without a page at its root answers with some error, whose origin is as good.
  await its.batch(
    [
      ["tab", "new"],
      ["open", new URL("/", url).href],
      ["eval", script],
    ],
    { ...options, bail: false },
  );
}

/** Waits for a file that is complete. Throws BROWSER_FAILED, TOO_LARGE. */
async function arrived({ folder, call, clock, kill }: Running): Promise<string> {
  const until = clock.monotonic() + call.timeoutMs - MARGIN_MS;
  const begins = clock.monotonic() + BEGIN_MS;
  for (;;) {
    call.signal.throwIfAborted();
    const names = await readdir(folder.downloads);
    const whole = names.find((name) => !name.endsWith(".crdownload") && !name.startsWith(".com."));
    if (whole !== undefined && !names.includes(`${whole}.crdownload`)) return whole;
    if ((await sizeOf(folder.downloads)) > call.maxFileBytes) {
      // The program has no way to stop a download.
      await kill();
      throw new SvcError(
        "TOO_LARGE",
        `The file has more than ${Math.floor(call.maxFileBytes / 1_048_576)} MiB; the browser was closed.`,
      );
    }
    const now = clock.monotonic();
    if (now > until || (names.length === 0 && now > begins)) throw noDownload();
    await clock.sleep(LOOK_MS, call.signal);
  }
}

const LOOK_MS = 100;
const BEGIN_MS = 10_000;
const MARGIN_MS = 3000;
