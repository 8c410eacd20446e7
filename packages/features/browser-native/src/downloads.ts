/** Files that pages offer: takes the one that an action expects, and refuses all others. */
import { type Clock, SvcError } from "@svc/contract";
import { type DriverCall, type DriverFile, sizeOf } from "@svc/kit/browser";
import { createReadStream } from "node:fs";
import { rm, stat } from "node:fs/promises";
import type { Download } from "playwright-core";

export class Downloads {
  readonly #folder: string;
  readonly #clock: Clock;
  #waiting: ((download: Download) => void) | undefined;

  /** `folder`: where Chromium writes them. */
  constructor(folder: string, clock: Clock) {
    this.#folder = folder;
    this.#clock = clock;
  }

  /** Returns whether an action takes the file. */
  offer(download: Download): boolean {
    const take = this.#waiting;
    this.#waiting = undefined;
    if (take !== undefined) take(download);
    else download.cancel().catch(() => undefined);
    return take !== undefined;
  }

  /** The first file that a page offers after `trigger` began. Rejects as `trigger`, with TOO_LARGE and BROWSER_FAILED. */
  async take(trigger: () => Promise<unknown>, call: DriverCall): Promise<DriverFile> {
    const offered = Promise.withResolvers<Download>();
    this.#waiting = offered.resolve;
    const stop = (): void => offered.reject(call.signal.reason);
    call.signal.addEventListener("abort", stop, { once: true });
    const cancel = this.#clock.after(OFFER_MS, () => offered.reject(noFile()));
    offered.promise.catch(() => undefined);
    try {
      await trigger();
      return await this.#finished(await offered.promise, call);
    } finally {
      cancel();
      this.#waiting = undefined;
      call.signal.removeEventListener("abort", stop);
    }
  }

  async #finished(download: Download, { signal, maxFileBytes }: DriverCall): Promise<DriverFile> {
    const watching = new AbortController();
    const tooLarge = this.#watchSize(maxFileBytes, AbortSignal.any([signal, watching.signal]));
    const cancelled = (): void => void download.cancel().catch(() => undefined);
    signal.addEventListener("abort", cancelled, { once: true });
    try {
      const path = download.path();
      path.catch(() => undefined);
      const done = await Promise.race([path, tooLarge]);
      if (typeof done !== "string" || (await stat(done)).size > maxFileBytes) {
        await download.cancel();
        await download.delete().catch(() => undefined);
        throw new SvcError("TOO_LARGE", "The file is larger than a download may be; nothing of it was kept.");
      }
      return { name: download.suggestedFilename(), fill: (write) => filled(done, write) };
    } catch (error) {
      signal.throwIfAborted();
      throw error instanceof SvcError
        ? error
        : new SvcError("BROWSER_FAILED", "The download broke off.", { cause: error });
    } finally {
      watching.abort();
      signal.removeEventListener("abort", cancelled);
    }
  }

  /** Resolves when the folder holds more than `maxBytes`; else never, until the signal is aborted. */
  async #watchSize(maxBytes: number, signal: AbortSignal): Promise<undefined> {
    while (!signal.aborted) {
      if ((await sizeOf(this.#folder)) > maxBytes) return undefined;
      await this.#clock.sleep(LOOK_MS, signal).catch(() => undefined);
    }
    return new Promise(() => undefined);
  }
}

/** How long a page may take to offer the file. */
const OFFER_MS = 30_000;
const LOOK_MS = 200;

async function filled(path: string, write: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  try {
    for await (const chunk of createReadStream(path)) await write(chunk as Uint8Array);
  } finally {
    await rm(path, { force: true });
  }
}

const noFile = (): SvcError =>
  new SvcError("BROWSER_FAILED", "The page offered no file.", {
    hint: "A page that opens is read with snapshot or pdf.",
  });
