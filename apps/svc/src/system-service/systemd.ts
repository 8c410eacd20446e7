/** systemd: a unit of the user's own manager, or one of the whole machine. */
import { homedir } from "node:os";
import { join } from "node:path";
import type { Manager, ManagerOptions, ServiceState } from "./manager.ts";
import { type Command, tryCommand } from "./run-command.ts";
import { unitText } from "./unit.ts";

const UNIT = "svc.service";
const ASK_MS = 10_000;

export function systemd({ env, system }: ManagerOptions): Manager {
  const systemctl = (...words: string[]): Command => ["systemctl", ...(system ? [] : ["--user"]), ...words];
  return {
    name: "systemd",
    file: join(system ? "/etc/systemd/system" : userUnits(env), UNIT),
    text: unitText,
    answers: async () => (await tryCommand(systemctl("show", "--property=Version"), env, ASK_MS)).ok,
    enable: (start) => [systemctl("daemon-reload"), systemctl("enable", ...(start ? ["--now"] : []), UNIT)],
    restart: () => [systemctl("restart", UNIT)],
    disable: () => [systemctl("disable", "--now", UNIT)],
    forget: () => [systemctl("daemon-reload")],
    notes: () => (system ? [] : ["It runs while you are logged in. To keep it running: loginctl enable-linger"]),
    state: async () =>
      stateIn((await tryCommand(systemctl("show", UNIT, `--property=${PROPERTIES}`), env, ASK_MS)).output),
  };
}

const PROPERTIES = "ActiveState,SubState,UnitFileState,MainPID";

function userUnits(env: ManagerOptions["env"]): string {
  const config = env["XDG_CONFIG_HOME"]?.trim() || join(env["HOME"]?.trim() || homedir(), ".config");
  return join(config, "systemd", "user");
}

/** `ActiveState=active` and so on, a line each; anything else is no answer. */
export function stateIn(output: string): ServiceState {
  const values = new Map(output.split("\n").map((line) => line.split("=", 2) as [string, string | undefined]));
  const active = values.get("ActiveState");
  if (active === undefined) return { state: undefined, enabled: undefined, running: false, pid: undefined };
  return {
    state: `${active} (${values.get("SubState") ?? "unknown"})`,
    enabled: values.get("UnitFileState") === "enabled",
    running: active === "active",
    pid: Number(values.get("MainPID")) || undefined,
  };
}
