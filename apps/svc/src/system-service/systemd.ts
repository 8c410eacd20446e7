/** systemd: a unit of the user's own manager, or one of the whole machine. */
import { homedir } from "node:os";
import { join, sep } from "node:path";
import { type Command, type Manager, type ManagerOptions, type ServiceState, tryCommand } from "./manager.ts";
import { assertPlain, sealed, type ServicePlan, unusable } from "./plan.ts";

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

/** The unit: how the service is started, what it may do, and why what is missing is missing. Throws USAGE for a path that no unit can hold. */
export function unitText(plan: ServicePlan): string {
  assertPlain("the binary", plan.binary);
  assertPlain("the home", plan.home);
  for (const folder of plan.workspaces) assertPlain("a workspace", folder);
  if (plan.system) for (const path of [plan.binary, plan.home, ...plan.workspaces]) assertLasting(path);
  return sealed("#", "", [...head(plan), ...service(plan), ...hardening(plan), ...install(plan)].join("\n"));
}

/** PrivateTmp gives the service temporary folders of its own. */
function assertLasting(path: string): void {
  if (["/tmp", "/var/tmp"].some((top) => path === top || path.startsWith(top + sep))) {
    throw unusable("the binary, the home or a workspace", "is in a temporary folder");
  }
}

const head = ({ system }: ServicePlan): string[] => [
  "[Unit]",
  "Description=svc, an agent gateway",
  // A user's own manager knows nothing of the network.
  ...(system ? ["Wants=network-online.target", "After=network-online.target"] : []),
  "StartLimitIntervalSec=300",
  "StartLimitBurst=20",
  "",
];

const service = ({ binary, home, stopSecs, system }: ServicePlan): string[] => [
  "[Service]",
  "Type=exec",
  ...(system ? [`User=${system.user}`] : []),
  `Environment=${word(`SVC_HOME=${home}`)}`,
  `ExecStart=${program(binary)} daemon`,
  `ExecReload=${program(binary)} reload`,
  "Restart=on-failure",
  "RestartSec=5",
  "# Wrong arguments, data, input, permissions and config do not fix themselves.",
  "RestartPreventExitStatus=64 65 66 77 78",
  `TimeoutStopSec=${stopSecs}`,
  "# The daemon ends its commands itself; what it leaves is killed.",
  "KillMode=mixed",
  "# A command of the agent that takes all memory is killed, and nothing else.",
  "OOMPolicy=continue",
  "LimitNOFILE=65536",
  "",
];

function hardening(plan: ServicePlan): string[] {
  return [
    "# Secrets are in memory and in files: no core dump, and files for the owner alone.",
    "LimitCORE=0",
    "UMask=0077",
    "NoNewPrivileges=yes",
    "# Not MemoryDenyWriteExecute: JavaScript is compiled while it runs. Not RestrictNamespaces: the sandbox of the agent's",
    "# commands is made of namespaces, and @mount is for what it does inside them.",
    "LockPersonality=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "SystemCallArchitectures=native",
    `SystemCallFilter=@system-service @mount @pkey ${SANDBOXING}`,
    "SystemCallErrorNumber=EPERM",
    ...(plan.system
      ? systemHardening(plan)
      : ["# A user's own manager can't change what the service sees of the machine: see --system."]),
    "",
  ];
}

/** What a sandbox limits itself with. By name: the group @sandbox is younger than many a systemd. */
const SANDBOXING = "seccomp landlock_create_ruleset landlock_add_rule landlock_restrict_self";

/**
 * Not ProtectKernelTunables, ProtectKernelLogs, ProtectProc: they cover parts of /proc, and the kernel then refuses the
 * sandbox a /proc of its own. Without capabilities the service can change nothing there.
 */
function systemHardening(plan: ServicePlan): string[] {
  return [
    "CapabilityBoundingSet=",
    "AmbientCapabilities=",
    "ProtectSystem=strict",
    `ReadWritePaths=${[plan.home, ...plan.workspaces].map(word).join(" ")}`,
    ...homes(plan),
    "PrivateTmp=yes",
    ...(plan.devices ? ["# Not PrivateDevices: this build talks to devices."] : ["PrivateDevices=yes"]),
    "ProtectKernelModules=yes",
    "ProtectControlGroups=yes",
    "ProtectClock=yes",
    "ProtectHostname=yes",
  ];
}

/** Nothing of anybody's home is seen but what the service lives in and of. */
function homes({ binary, home, workspaces }: ServicePlan): string[] {
  const inHomes = (path: string): boolean => ["/home", "/root", "/run/user"].some((top) => path.startsWith(top + sep));
  const written = [home, ...workspaces].filter(inHomes).map((path) => bindWord("the home or a workspace", path));
  const read = [binary].filter(inHomes).map((path) => bindWord("the binary", path));
  if (written.length + read.length === 0) return ["ProtectHome=yes"];
  return [
    "ProtectHome=tmpfs",
    ...(written.length > 0 ? [`BindPaths=${written.join(" ")}`] : []),
    ...(read.length > 0 ? [`BindReadOnlyPaths=${read.join(" ")}`] : []),
  ];
}

const install = ({ system }: ServicePlan): string[] => [
  "[Install]",
  `WantedBy=${system ? "multi-user.target" : "default.target"}`,
  "",
];

// Text inside a systemd unit. A quoted word knows two escapes that matter, and in all of these settings `%` begins a specifier.

/** One word, whatever is in it; for lists of paths and of variables. */
const word = (text: string): string => `"${text.replace(/["\\]/g, String.raw`\$&`).replaceAll("%", "%%")}"`;

/**
 * The program of a command line. systemd starts none with a quote or a backslash in its path, and reads a variable behind
 * every `$`.
 */
function program(path: string): string {
  if (/["'\\$]/.test(path)) throw unusable("the binary", "has a quote, a backslash or a dollar sign");
  return word(path);
}

/** In BindPaths= a colon divides source and target, quoted or not. */
function bindWord(what: string, path: string): string {
  if (path.includes(":")) throw unusable(what, "has a colon");
  return word(path);
}
