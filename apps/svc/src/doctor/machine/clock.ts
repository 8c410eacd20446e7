/** The clock: signatures, limits, codes and budgets are judged by it. */
import { stat } from "node:fs/promises";
import { error, type Finding, ok } from "../finding.ts";
import type { Check } from "./check.ts";

/** svc was not written before. */
const EARLIEST_MS = Date.UTC(2025, 0, 1);
const LATEST_MS = Date.UTC(2100, 0, 1);
/** Clocks are set right by moments; nothing is wrong with that. */
const TOLERANCE_MS = 60_000;

export const clock: Check = {
  id: "clock",
  async find(machine) {
    const { report } = await machine.daemon();
    return [clockFinding(machine.clock.now(), report?.newestMs ?? (await newestInFile(machine.home.database)))];
  },
};

export function clockFinding(nowMs: number, newestMs: number | undefined): Finding {
  const fix = "set the clock, and let it be kept: timedatectl set-ntp true";
  if (nowMs < EARLIEST_MS || nowMs > LATEST_MS) {
    return error("clock", `The clock shows the year ${new Date(nowMs).getUTCFullYear()}.`, fix);
  }
  if (newestMs !== undefined && newestMs > nowMs + TOLERANCE_MS) {
    return error("clock", "The clock was moved back: the newest conversation is in the future.", fix);
  }
  return ok("clock", "The clock is plausible.");
}

async function newestInFile(file: string): Promise<number | undefined> {
  // Opening a FIFO would wait for a writer for ever.
  const there = await stat(file).catch(() => undefined);
  if (!there?.isFile()) return undefined;
  const { newestTurnMs } = await import("@svc/store");
  return newestTurnMs(file);
}
