import { type Clock, SvcError } from "@svc/contract";
import type { DriverSession, ProxyAccess } from "@svc/kit/browser";
import { type BrowserContext, chromium } from "playwright-core";
import { nativeSession } from "../session/native-session.ts";
import { type ProfileFolder, profileFolder } from "./profile-folder.ts";
import { SWITCHES, SWITCHES_NOT_TAKEN } from "./switches.ts";

export interface LaunchRequest {
  /** The program. */
  readonly file: string;
  readonly headless: boolean;
  /** Chromium's own, around the processes that read pages. */
  readonly sandbox: boolean;
  /** Where profile folders are. */
  readonly profiles: string;
  readonly proxy: ProxyAccess;
  readonly clock: Clock;
}

/** Throws BROWSER_UNAVAILABLE. It is driven over a pipe: no port is open, and when this process dies, so does the browser. */
export async function launchChromium(request: LaunchRequest): Promise<DriverSession> {
  const folder = await profileFolder(request.profiles);
  try {
    const context = await started(request, folder);
    return nativeSession(context, folder, request);
  } catch (cause) {
    await folder.remove();
    throw new SvcError("BROWSER_UNAVAILABLE", "Chromium did not start.", {
      hint: "Try the program by hand; without a display, browser.native_headless must be true.",
      cause,
    });
  }
}

function started(
  { file, headless, sandbox, proxy }: LaunchRequest,
  { root, profile, downloads }: ProfileFolder,
): Promise<BrowserContext> {
  return chromium.launchPersistentContext(profile, {
    executablePath: file,
    headless,
    chromiumSandbox: sandbox,
    // The service ends by its own rules; the library's would exit in the middle of them.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    proxy: { ...proxy, bypass: "<-loopback>" },
    args: [...SWITCHES],
    ignoreDefaultArgs: SWITCHES_NOT_TAKEN,
    artifactsDir: root,
    downloadsPath: downloads,
    env: environment(root, headless),
    // All that pages can ask people for is refused.
    permissions: [],
    acceptDownloads: true,
    serviceWorkers: "allow",
    viewport: { width: 1280, height: 800 },
    timeout: START_TIMEOUT_MS,
  });
}

const START_TIMEOUT_MS = 30_000;

/** Nothing of the daemon's own environment, which holds secrets, but for what a window needs. */
function environment(root: string, headless: boolean): Record<string, string> {
  const shown = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];
  const needed = process.platform === "win32" ? ["SYSTEMROOT", "WINDIR", "LOCALAPPDATA", "PROGRAMFILES"] : [];
  const names = ["PATH", "LANG", "TZ", "TMPDIR", "TMP", "TEMP", ...needed, ...(headless ? [] : shown)];
  const taken = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]));
  return { ...Object.fromEntries(taken), HOME: root };
}
