/** Files between the session's folder and the tool: the program writes there, and nowhere else. */
import { createReadStream } from "node:fs";
import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import type { DriverFile } from "@svc/kit/browser";
import type { Outcome, Running } from "./perform.ts";

export async function screenshot(full: boolean, running: Running): Promise<Outcome> {
  const path = join(running.folder.files, "screenshot.png");
  await running.run(["screenshot", path, ...(full ? ["--full"] : [])]);
  return { file: await handedOver(path, "screenshot.png", running.call.maxFileBytes) };
}

export async function pdf(running: Running): Promise<Outcome> {
  const path = join(running.folder.files, "page.pdf");
  await running.run(["pdf", path]);
  return { file: await handedOver(path, "page.pdf", running.call.maxFileBytes) };
}

/** A file that the program has written; it is gone once it was read. Throws TOO_LARGE, BROWSER_FAILED. */
export async function handedOver(path: string, name: string, maxBytes: number): Promise<DriverFile> {
  const found = await lstat(path).catch(() => undefined);
  if (!found?.isFile()) throw new SvcError("BROWSER_FAILED", "agent-browser did not write the file.");
  if (found.size > maxBytes) {
    await rm(path, { force: true });
    throw new SvcError("TOO_LARGE", `The file has more than ${Math.floor(maxBytes / 1_048_576)} MiB.`);
  }
  return {
    name,
    async fill(write) {
      for await (const chunk of createReadStream(path)) await write(chunk as Buffer);
      await rm(path, { force: true });
    },
  };
}
