/** All that the program and its browser see of an environment: nothing of the daemon's, which holds secrets. */
import type { ProxyAccess } from "@svc/kit/browser";
import { MARK } from "../keeper/marked-processes.ts";
import type { SessionFolder } from "./session-folder.ts";
import { switches } from "./switches.ts";

export interface EnvironmentOptions {
  readonly folder: SessionFolder;
  readonly chromium: string;
  readonly sandbox: boolean;
  readonly proxy: ProxyAccess;
  readonly idleSecs: number;
}

/** https://agent-browser.dev/configuration */
export function environment({
  folder,
  chromium,
  sandbox,
  proxy,
  idleSecs,
}: EnvironmentOptions): Record<string, string> {
  const needed = process.platform === "win32" ? ["SYSTEMROOT", "WINDIR", "LOCALAPPDATA", "PROGRAMFILES"] : [];
  const taken = ["PATH", ...needed].flatMap((name) =>
    process.env[name] === undefined ? [] : [[name, process.env[name]] as const],
  );
  return {
    ...Object.fromEntries(taken),
    LANG: "C.UTF-8",
    HOME: folder.root,
    USERPROFILE: folder.root,
    XDG_RUNTIME_DIR: folder.temporary,
    TMPDIR: folder.temporary,
    TEMP: folder.temporary,
    TMP: folder.temporary,
    [MARK]: folder.name,
    AGENT_BROWSER_SOCKET_DIR: folder.temporary,
    AGENT_BROWSER_PROFILE: folder.profile,
    AGENT_BROWSER_DOWNLOAD_PATH: folder.downloads,
    AGENT_BROWSER_EXECUTABLE_PATH: chromium,
    AGENT_BROWSER_ARGS: switches({ sandbox, proxy: proxy.server }).join("\n"),
    AGENT_BROWSER_DEFAULT_TIMEOUT: String(ACTION_TIMEOUT_MS),
    AGENT_BROWSER_INIT_SCRIPTS: folder.script,
    // Whatever dialog shows all the same is dismissed by us, and told.
    AGENT_BROWSER_NO_AUTO_DIALOG: "1",
    // The tool closes it after idle_secs. The program ends itself where nobody is left who could.
    AGENT_BROWSER_IDLE_TIMEOUT_MS: String((idleSecs + 60) * 1000),
    // It would ask a server for the newest Chromium.
    AGENT_BROWSER_NO_VERSION_CHECK: "1",
    AGENT_BROWSER_NO_WEBMCP: "1",
    AGENT_BROWSER_NO_XVFB: "1",
  };
}

/** Less than any action has, so that the program says what it waited for. */
const ACTION_TIMEOUT_MS = 8000;
