/** Whether a procedure's files have changed, without reading them. */
import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { SOP_MD, SOP_TOML } from "./file-names.ts";

export interface Stamp {
  /** The same as long as the files are. */
  readonly text: string;
  /** When each of them was written, in milliseconds since the epoch. */
  readonly writtenMs: readonly number[];
}

/** Never throws. */
export async function stampOf(folder: string): Promise<Stamp> {
  const stats = await Promise.all([SOP_TOML, SOP_MD].map((name) => statsOf(join(folder, name))));
  const writtenMs = stats.flatMap((one) => (typeof one === "string" ? [] : [Number(one.mtimeMs)]));
  return { text: stats.map(textOf).join(" "), writtenMs };
}

/** Of one file; never throws. */
export const fileStamp = async (file: string): Promise<string> => textOf(await statsOf(file));

async function statsOf(file: string): Promise<BigIntStats | string> {
  try {
    return await stat(file, { bigint: true });
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? "unknown";
  }
}

/** The change time too: some programs set the time of writing back. */
const textOf = (stats: BigIntStats | string): string =>
  typeof stats === "string" ? stats : [stats.dev, stats.ino, stats.size, stats.mtimeNs, stats.ctimeNs].join(":");
