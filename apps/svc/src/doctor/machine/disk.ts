/** The disk that the home is on: whether it takes writes, and how much room is left. */
import { constants } from "node:fs";
import { access, statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { error, type Finding, ok, warning } from "../finding.ts";
import type { Check } from "./check.ts";
import { size } from "./database.ts";

const SCARCE_BYTES = 1_000_000_000;
const NONE_BYTES = 100_000_000;

export const disk: Check = {
  id: "disk",
  find: async ({ home: { root } }) => [(await readOnly(root)) ?? spaceFinding(await freeBytes(root), root)],
};

/** What Linux does to a disk with errors. No room that is made helps there. */
async function readOnly(folder: string): Promise<Finding | undefined> {
  const code = await access(folder, constants.W_OK).catch((error: NodeJS.ErrnoException) => error.code);
  if (code !== "EROFS") return undefined;
  return error(
    "disk",
    `${folder} is on a disk that is read-only.`,
    "find out why (dmesg), then remount it for writing",
  );
}

export function spaceFinding(free: number | undefined, folder: string): Finding {
  if (free === undefined) return warning("disk", "It could not be told how much room is left on the disk.", "df");
  const message = `${size(free)} are left on the disk of ${folder}.`;
  if (free >= SCARCE_BYTES) return ok("disk", message);
  return (free < NONE_BYTES ? error : warning)("disk", message, "make room, or lower retention.session_days");
}

/** Of the nearest folder that is there. */
async function freeBytes(folder: string): Promise<number | undefined> {
  try {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return missing && dirname(folder) !== folder ? freeBytes(dirname(folder)) : undefined;
  }
}
