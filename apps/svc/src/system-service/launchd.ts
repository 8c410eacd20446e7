/** launchd: an agent of the user that is logged in. */
import { homedir } from "node:os";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import type { Manager, ManagerOptions, ServiceState } from "./manager.ts";
import { LABEL, plistText } from "./plist.ts";
import { type Command, tryCommand } from "./run-command.ts";

const ASK_MS = 10_000;

/** Throws SERVICE_UNSUPPORTED for a service of the whole machine. */
export function launchd({ env, system }: ManagerOptions): Manager {
  if (system) {
    throw new SvcError("SERVICE_UNSUPPORTED", "On macOS svc installs services of a user only.", {
      hint: "Install it without --system, as the user that owns the home.",
    });
  }
  const domain = `gui/${process.getuid?.() ?? 0}`;
  const file = join(env["HOME"]?.trim() || homedir(), "Library", "LaunchAgents", `${LABEL}.plist`);
  const bootstrap: Command = ["launchctl", "bootstrap", domain, file];
  const bootout: Command = ["launchctl", "bootout", `${domain}/${LABEL}`];
  return {
    name: "launchd",
    file,
    text: plistText,
    answers: async () => (await tryCommand(["launchctl", "print", domain], env, ASK_MS)).ok,
    restart: () => [bootout, bootstrap],
    // It has no way to enable without a start: the file being there is enough for the next login.
    enable: (start) => (start ? [bootstrap] : []),
    disable: () => [bootout],
    forget: () => [],
    notes: () => ["It runs while you are logged in."],
    state: async () => stateIn(await tryCommand(["launchctl", "print", `${domain}/${LABEL}`], env, ASK_MS)),
  };
}

export function stateIn({ ok, output }: { readonly ok: boolean; readonly output: string }): ServiceState {
  if (!ok) return { state: undefined, enabled: undefined, running: false, pid: undefined };
  const state = /^[ \t]*state = (.+)$/m.exec(output)?.[1];
  const pid = Number(/^[ \t]*pid = (\d+)$/m.exec(output)?.[1]) || undefined;
  return { state, enabled: true, running: state === "running", pid };
}
