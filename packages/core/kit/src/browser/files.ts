/** Files between a page and the workspace: no name and no size is the page's choice. */
import { randomBytes } from "node:crypto";
import { type Clock, SvcError, type ToolContext, trimEndOf, type Workspace } from "@svc/contract";
import type { DriverFile, UploadFile } from "./driver.ts";

export interface StoredFile {
  /** In the workspace. */
  readonly path: string;
  readonly bytes: number;
}

/** Of one file, down or up. */
export const MAX_FILE_BYTES = 52_428_800;

/** Writes it under a new name into the workspace's folder `browser`. Throws TOO_LARGE; nothing is left then. */
export async function keepFile(file: DriverFile, { workspace }: ToolContext, clock: Clock): Promise<StoredFile> {
  const time = new Date(clock.now()).toISOString().split(".", 1)[0]!.replaceAll(/[-:]/g, "");
  // The random part keeps a file of the same second apart: nothing that is there already is replaced.
  const path = `${FOLDER}/${time}-${randomBytes(4).toString("hex")}-${fileName(file.name)}`;
  let bytes = 0;
  const fill: DriverFile["fill"] = (write) =>
    file.fill(async (chunk) => {
      bytes += chunk.byteLength;
      if (bytes > MAX_FILE_BYTES) throw tooLarge();
      await write(chunk);
    });
  await workspace.write(path, fill, "replace");
  return { path, bytes };
}

const FOLDER = "browser";

/** What `upload` hands to a page. Throws TOO_LARGE, and what the workspace throws. */
export async function uploads(paths: readonly string[], workspace: Workspace): Promise<UploadFile[]> {
  const files: UploadFile[] = [];
  let left = MAX_FILE_BYTES;
  for (const path of paths) {
    const { bytes, truncated } = await workspace.read(path, left);
    if (truncated) throw tooLarge();
    left -= bytes.byteLength;
    files.push({ name: fileName(path), bytes });
  }
  return files;
}

/**
 * A safe file name from a page's suggestion: the last part of a path, without control and direction marks or characters special
 * to any system, never hidden, never a Windows device, at most 100 characters with its extension kept.
 */
export function fileName(suggested: string): string {
  const last = suggested.toWellFormed().normalize("NFC").split(/[/\\]/).at(-1) ?? "";
  const tidy = last
    .replaceAll(/[\p{C}\p{Zl}\p{Zp}<>:"|?*%~$`'&;!{}]/gu, "")
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\.{2,}/g, ".")
    .replace(/^[\s.-]+/, "");
  const plain = trimEndOf(tidy, " .");
  const [, stem = "", extension = ""] = /^(.*?)(\.[A-Za-z0-9]{1,10})?$/s.exec(plain) ?? [];
  const short = `${[...stem].slice(0, MAX_NAME_CHARS - extension.length).join("")}${extension}`;
  if (short === "" || stem === "") return `file${extension}`;
  return WINDOWS_DEVICE.test(stem) ? `_${short}` : short;
}

const MAX_NAME_CHARS = 100;
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/i;

const tooLarge = (): SvcError =>
  new SvcError(
    "TOO_LARGE",
    `A file between the browser and the workspace has at most ${MAX_FILE_BYTES / 1_048_576} MiB.`,
  );
