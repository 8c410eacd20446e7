/** All that the program and its browser see of an environment: nothing of the daemon's, which holds secrets. */
import { makeProfile, type ProxyAccess } from "@svc/kit/browser";
import { removePath } from "@svc/kit/files";
import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { MARK, TEMPORARY } from "./keeper.ts";
import { DIALOGS_SCRIPT } from "./page.ts";

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
    // The driver dismisses any remaining dialog and reports it.
    AGENT_BROWSER_NO_AUTO_DIALOG: "1",
    // The tool closes it after idle_secs. The program ends itself where no one is left who could.
    AGENT_BROWSER_IDLE_TIMEOUT_MS: String((idleSecs + 60) * 1000),
    // It would ask a server for the newest Chromium.
    AGENT_BROWSER_NO_VERSION_CHECK: "1",
    AGENT_BROWSER_NO_WEBMCP: "1",
    AGENT_BROWSER_NO_XVFB: "1",
  };
}

/** Less than any action has, so that the program says what it waited for. */
const ACTION_TIMEOUT_MS = 8000;

/** Switches of Chromium that are added to the program's: peter.sh/experiments/chromium-command-line-switches. */
const switches = ({ sandbox, proxy }: SwitchOptions): readonly string[] => [
  // Not by the program's own option: a browser that a batch starts with a bare `open` ignores it (agent-browser 0.41.2).
  `--proxy-server=${proxy}`,
  // Without this, pages could reach services on this machine past the proxy.
  "--proxy-bypass-list=<-loopback>",
  ...SWITCHES,
  ...(sandbox ? [] : ["--no-sandbox"]),
];

interface SwitchOptions {
  readonly sandbox: boolean;
  /** e.g. `http://127.0.0.1:8080`. */
  readonly proxy: string;
}

const SWITCHES = [
  // The proxy is the only way out: nothing is resolved, and nothing but TCP to the proxy is sent, by the browser itself.
  "--disable-quic",
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--dns-prefetch-disable",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
  // Nothing that a page did not ask for.
  "--disable-domain-reliability",
  "--no-pings",
  "--disable-speech-api",
  "--disable-notifications",
  "--disable-breakpad",
  "--disable-crash-reporter",
  // A page takes no more of the machine than this.
  "--disk-cache-size=67108864",
  "--media-cache-size=16777216",
  "--renderer-process-limit=8",
  "--js-flags=--max-old-space-size=1024",
  "--disable-gpu",
  // The last of this switch wins, so that the program's own is named again. No one types into the address bar: its popups are pages
  // that each browser would load at its start (half of its processor time, 50 MB).
  `--disable-features=${[
    "AimEnabled",
    "Translate",
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PreconnectToSearch",
    "Prerender2",
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxPopup",
  ].join(",")}`,
  `--enable-features=${["NetworkService", "NetworkServiceInProcess", "StorageQuotaSettings:PoolSizeBytes/268435456"].join(",")}`,
];

/**
 * The folder of one browser: new when it starts, gone when it ends. Below `$SVC_HOME/run/browser`, which only we may read.
 */
export interface SessionFolder {
  /** Its last part, which is also the mark of its processes. */
  readonly name: string;
  /** HOME of the program. */
  readonly root: string;
  readonly profile: string;
  /** Elsewhere, and short: the program and Chromium make sockets in it, whose paths may have about a hundred characters. */
  readonly temporary: string;
  readonly downloads: string;
  /** What the driver hands in and takes out. */
  readonly files: string;
  /** What every document runs first. */
  readonly script: string;
  remove(): Promise<void>;
}

/** `prefix`: beginning of the folder's name. */
export async function sessionFolder(folders: string, prefix: string): Promise<SessionFolder> {
  await mkdir(folders, { recursive: true, mode: 0o700 });
  const root = await mkdtemp(join(folders, prefix));
  const inside = (name: string): string => join(root, name);
  const temporary = await mkdtemp(join(tmpdir(), "svc-"));
  // So that anyone who finds the folder finds this one too.
  await symlink(temporary, join(root, TEMPORARY));
  const folder = {
    name: basename(root),
    root,
    profile: inside("profile"),
    temporary,
    downloads: inside("downloads"),
    files: inside("files"),
    // The program takes a list with commas: no folder of the operator's naming is in this path.
    script: join(temporary, "dialogs.js"),
  };
  const { profile, downloads, files } = folder;
  await Promise.all([makeProfile(profile), mkdir(downloads, { mode: 0o700 }), mkdir(files, { mode: 0o700 })]);
  await writeFile(folder.script, DIALOGS_SCRIPT);
  const remove = async (): Promise<void> => {
    for (const path of [temporary, root]) await removePath(path);
  };
  return { ...folder, remove };
}
