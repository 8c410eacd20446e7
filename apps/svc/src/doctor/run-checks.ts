/** The checks, side by side, each within its time. Runs in a process of its own: see supervise.ts. */
import { EXIT, SvcError } from "@svc/contract";
import { withTimeout } from "@svc/kit/async";
import { systemClock } from "@svc/kit/system-clock";
import type { CommandContext } from "../cli/command.ts";
import { type Finding, type Progress, unchecked, warning } from "./finding.ts";
import { type Check, type Machine, machineOf } from "./machine/machine.ts";
import { CHECKS } from "./machine/checks.ts";

const CHECK_MS = 3000;

export async function runChecks(context: CommandContext): Promise<number> {
  const machine = machineOf(context, systemClock);
  const checks = CHECKS.filter(({ security }) => security !== true || machine.security);
  tell({ type: "checks", ids: checks.map(({ id }) => id) });
  await Promise.all(
    checks.map(async (check) => tell({ type: "done", id: check.id, findings: await within(check, machine) })),
  );
  return EXIT.ok;
}

async function within(check: Check, machine: Machine): Promise<readonly Finding[]> {
  try {
    const limit = { clock: machine.clock, timeoutMs: CHECK_MS, error: () => LATE };
    return await withTimeout(limit, (signal) => check.find(machine, signal));
  } catch (error) {
    if (error === LATE) return [unchecked(check.id)];
    const why = (error as NodeJS.ErrnoException).code ?? (error as Error).name;
    return [warning(check.id, `This check failed (${why}).`, "run svc doctor as the user that runs the daemon")];
  }
}

const LATE = new SvcError("REMOTE_TIMEOUT", "The check took too long.");

const tell = (progress: Progress): void => void process.stdout.write(`${JSON.stringify(progress)}\n`);
