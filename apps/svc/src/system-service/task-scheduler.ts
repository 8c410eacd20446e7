/**
 * Windows: a task of the Task Scheduler, started when the user signs in and again after a failure. No service of the Service Control
 * Manager: that needs administrator rights, and a program that speaks its protocol, which no Node does without a wrapper of native code.
 */
import { win32 } from "node:path";
import { SvcError } from "@svc/contract";
import { type Command, type Manager, type ManagerOptions, type ServiceState, tryCommand } from "./manager.ts";
import { assertPlain, sealed, type ServicePlan, unusable } from "./plan.ts";

const TASK = "svc";
const ASK_MS = 10_000;

/** Throws SERVICE_UNSUPPORTED for a service of the whole machine. */
export function taskScheduler({ env, system }: ManagerOptions): Manager {
  if (system) {
    throw new SvcError("SERVICE_UNSUPPORTED", "On Windows svc installs services of a user only.", {
      hint: "Install it without --system, as the user that owns the home.",
    });
  }
  const profile = env["USERPROFILE"]?.trim() || String.raw`C:\Users\Default`;
  const local = env["LOCALAPPDATA"]?.trim() || win32.join(profile, "AppData", "Local");
  const file = win32.join(local, "svc", "svc-task.xml");
  const schtasks = (...words: string[]): Command => ["schtasks", ...words];
  return {
    name: "task-scheduler",
    file,
    text: (plan) =>
      taskText(plan, { user: userOf(env), usualHome: win32.join(profile, ".svc"), windows: windowsOf(env) }),
    answers: async () => (await tryCommand(schtasks("/query", "/fo", "csv", "/nh"), env, ASK_MS)).ok,
    enable: (start) => [
      schtasks("/create", "/tn", TASK, "/xml", file, "/f"),
      ...(start ? [schtasks("/run", "/tn", TASK)] : []),
    ],
    restart: () => [schtasks("/end", "/tn", TASK), schtasks("/run", "/tn", TASK)],
    disable: () => [schtasks("/end", "/tn", TASK)],
    forget: () => [schtasks("/delete", "/tn", TASK, "/f")],
    notes: () => [
      "It runs while you are signed in, in a console window.",
      "Windows ends it without a warning: running turns are not drained, and continue at the next start.",
    ],
    state: async () => stateIn(await tryCommand(schtasks("/query", "/tn", TASK, "/fo", "csv", "/nh"), env, ASK_MS)),
  };
}

const userOf = (env: ManagerOptions["env"]): string =>
  [env["USERDOMAIN"], env["USERNAME"]].filter((part) => part !== undefined && part !== "").join("\\");

const windowsOf = (env: ManagerOptions["env"]): string => env["SystemRoot"]?.trim() || String.raw`C:\Windows`;

export interface TaskAccount {
  /** `DOMAIN\user`; empty: the task names none. */
  readonly user: string;
  /** The home that svc uses by itself: no variable has to be set for it. */
  readonly usualHome: string;
  readonly windows: string;
}

/** Throws USAGE for a path that no task can hold. */
export function taskText(plan: ServicePlan, account: TaskAccount): string {
  const { binary, home } = plan;
  assertPlain("the binary", binary);
  assertPlain("the home", home);
  const action = actionOf(plan, account);
  const user = account.user === "" ? "" : `\n      <UserId>${xml(account.user)}</UserId>`;
  const body = `<Task version="1.2" xmlns="http://schemas.microsoft.com/windows/2004/02/mit/task">
  <RegistrationInfo>
    <Description>svc daemon, SVC_HOME=${xml(home)}</Description>
  </RegistrationInfo>
  <Triggers>
    <LogonTrigger>
      <Enabled>true</Enabled>${user}
    </LogonTrigger>
  </Triggers>
  <Principals>
    <Principal id="Author">${user}
      <LogonType>InteractiveToken</LogonType>
      <RunLevel>LeastPrivilege</RunLevel>
    </Principal>
  </Principals>
  <Settings>
    <MultipleInstancesPolicy>IgnoreNew</MultipleInstancesPolicy>
    <DisallowStartIfOnBatteries>false</DisallowStartIfOnBatteries>
    <StopIfGoingOnBatteries>false</StopIfGoingOnBatteries>
    <StartWhenAvailable>true</StartWhenAvailable>
    <ExecutionTimeLimit>PT0S</ExecutionTimeLimit>
    <Priority>5</Priority>
    <RestartOnFailure>
      <Interval>PT1M</Interval>
      <Count>999</Count>
    </RestartOnFailure>
  </Settings>
  <Actions Context="Author">
    <Exec>
      <Command>${xml(action.command)}</Command>
      <Arguments>${xml(action.words)}</Arguments>
    </Exec>
  </Actions>
</Task>
`;
  return sealed("<!--", "-->", body, '<?xml version="1.0" encoding="UTF-8"?>\n');
}

/** A task has no variables of its own, so that another home than the usual one takes a shell that sets it. */
function actionOf(
  { binary, home }: ServicePlan,
  { usualHome, windows }: TaskAccount,
): { readonly command: string; readonly words: string } {
  if (home.toLowerCase() === usualHome.toLowerCase()) return { command: binary, words: "daemon" };
  for (const [what, path] of [
    ["the binary", binary],
    ["the home", home],
  ] as const) {
    if (/[%"]/.test(path)) throw unusable(what, "has a percent sign or a quote");
  }
  return {
    command: win32.join(windows, "System32", "cmd.exe"),
    words: `/d /s /c "set "SVC_HOME=${home}"&& "${binary}" daemon"`,
  };
}

/** In ASCII: the scheduler reads the file in the code page of the machine when it doubts the declaration. */
const xml = (text: string): string =>
  text.replace(/[&<>"]|[^ -~]/gu, (character) => `&#x${character.codePointAt(0)!.toString(16)};`);

/** A line of CSV: `"\svc","N/A","Running"`. Windows in another language has other words for the state. */
export function stateIn({ ok, output }: { readonly ok: boolean; readonly output: string }): ServiceState {
  const state = ok ? /^"[^"]*","[^"]*","([^"]*)"/m.exec(output)?.[1] : undefined;
  if (state === undefined) return { state: undefined, enabled: undefined, running: false, pid: undefined };
  return { state, enabled: state !== "Disabled", running: state === "Running", pid: undefined };
}
