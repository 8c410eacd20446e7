/** launchd: an agent of the user that is logged in. */
import { homedir } from "node:os";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { type Command, type Manager, type ManagerOptions, type ServiceState, tryCommand } from "./manager.ts";
import { assertPlain, sealed, type ServicePlan } from "./plan.ts";

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

/** The launchd property list, for macOS. */
const LABEL = "svc.daemon";

/** Throws USAGE for a path that no property list can hold. */
export function plistText({ binary, home, stopSecs }: ServicePlan): string {
  assertPlain("the binary", binary);
  assertPlain("the home", home);
  const body = `<plist version="1.0">
<dict>
  <key>Label</key>
  <string>${LABEL}</string>
  <key>ProgramArguments</key>
  <array>
    <string>${xml(binary)}</string>
    <string>daemon</string>
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>SVC_HOME</key>
    <string>${xml(home)}</string>
  </dict>
  <key>RunAtLoad</key>
  <true/>
  <key>KeepAlive</key>
  <dict>
    <key>SuccessfulExit</key>
    <false/>
  </dict>
  <key>ThrottleInterval</key>
  <integer>10</integer>
  <key>ExitTimeOut</key>
  <integer>${stopSecs}</integer>
  <key>Umask</key>
  <integer>63</integer>
  <key>SoftResourceLimits</key>
  <dict>
    <key>Core</key>
    <integer>0</integer>
    <key>NumberOfFiles</key>
    <integer>65536</integer>
  </dict>
  <key>HardResourceLimits</key>
  <dict>
    <key>Core</key>
    <integer>0</integer>
  </dict>
</dict>
</plist>
`;
  return sealed("<!--", "-->", body, HEAD);
}

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
`;

const xml = (text: string): string =>
  text.replace(/[&<>]/g, (character) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" })[character]!);
