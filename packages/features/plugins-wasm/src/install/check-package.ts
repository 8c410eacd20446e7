/** Whether the module may run here, before anybody is asked about it. */
import { spawn } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, type FeatureCommandContext, SvcError } from "@svc/contract";
import { makeScratch } from "@svc/kit/files";
import { CHECKED } from "../children/plugin-check.ts";
import { checkModule } from "../host/module/check-module.ts";
import type { PluginPackage } from "./package.ts";

/** A module of 20 MiB that a compiler made takes less than a second. */
const LONGEST_MS = 10_000;

export interface CheckParts extends Pick<FeatureCommandContext, "child" | "signal"> {
  readonly clock: Pick<Clock, "after">;
}

/** Throws PLUGIN_INVALID, and the signal's reason. */
export async function checkPackage({ manifest, wasm }: PluginPackage, parts: CheckParts): Promise<void> {
  checkModule(wasm, { memoryMb: manifest.limits.memory_mb });
  await using scratch = await makeScratch({ prefix: "svc-plugin-" });
  const file = join(scratch.path, "module.wasm");
  await writeFile(file, wasm, { mode: 0o600 });
  await validated(file, parts);
}

async function validated(file: string, { child, clock, signal }: CheckParts): Promise<void> {
  signal.throwIfAborted();
  const [program, ...args] = child("plugin-check");
  // No variable of ours: it reads what others wrote.
  const process = spawn(program, [...args, file], { stdio: "ignore", env: {} });
  const end = (): void => void process.kill("SIGKILL");
  signal.addEventListener("abort", end, { once: true });
  let isLate = false;
  const cancel = clock.after(LONGEST_MS, () => {
    isLate = true;
    end();
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      process.once("error", reject);
      process.once("close", resolve);
    });
    signal.throwIfAborted();
    if (code === CHECKED.valid) return;
    if (isLate) throw new SvcError("PLUGIN_INVALID", `Reading the module takes more than ${LONGEST_MS / 1000} s.`);
    // A module that ends the process that reads it is none to install either.
    throw new SvcError("PLUGIN_INVALID", "The engine does not take the module.");
  } finally {
    cancel();
    signal.removeEventListener("abort", end);
  }
}
