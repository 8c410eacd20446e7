/** The module of a plugin as it was approved, read when a process is to get it. */
import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { SvcError } from "@svc/contract";
import type { InstalledPlugin } from "../manifest/types.ts";
import { MAX_MODULE_BYTES } from "./module/abi.ts";
import { checkModule } from "./module/check-module.ts";

/** Throws PLUGIN_CHANGED, PLUGIN_INVALID. */
export async function readModule({ wasmFile, sha256, limits }: InstalledPlugin): Promise<Uint8Array> {
  const bytes = await read(wasmFile);
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) {
    throw new SvcError("PLUGIN_CHANGED", "The plugin's wasm file is not the one that was approved.", {
      hint: "Install the plugin again, or remove it.",
    });
  }
  checkModule(bytes, limits);
  return bytes;
}

/** One byte more than there may be: what is larger fits no hash, and is not read. */
async function read(path: string): Promise<Uint8Array> {
  try {
    await using file = await open(path);
    const bytes = Buffer.alloc(Math.min((await file.stat()).size, MAX_MODULE_BYTES + 1));
    const { bytesRead } = await file.read(bytes, 0, bytes.byteLength, 0);
    return bytes.subarray(0, bytesRead);
  } catch (cause) {
    throw new SvcError("PLUGIN_CHANGED", "The plugin's wasm file can't be read.", { cause });
  }
}
