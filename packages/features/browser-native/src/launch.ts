/** Starts Chromium with playwright-core. */
import { type Clock, SvcError } from "@svc/contract";
import type { DriverSession, ProxyAccess } from "@svc/kit/browser";
import { type BrowserContext, chromium } from "playwright-core";
import { nativeSession } from "./session.ts";
import { type ProfileFolder, profileFolder } from "./chromium.ts";

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

/** Throws BROWSER_UNAVAILABLE. The browser is driven over a pipe: no port is open, and it ends with this process. */
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
    // The library's signal handlers would exit in the middle of the daemon's own shutdown.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    proxy: { ...proxy, bypass: "<-loopback>" },
    args: [...SWITCHES],
    ignoreDefaultArgs: SWITCHES_NOT_TAKEN,
    artifactsDir: root,
    downloadsPath: downloads,
    env: environment(root, headless),
    // Refuses every permission that a page can ask for.
    permissions: [],
    acceptDownloads: true,
    serviceWorkers: "allow",
    viewport: { width: 1280, height: 800 },
    timeout: START_TIMEOUT_MS,
  });
}

const START_TIMEOUT_MS = 30_000;

/** A few variables only: the daemon's environment holds secrets. */
function environment(root: string, headless: boolean): Record<string, string> {
  const shown = ["DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR"];
  const needed = process.platform === "win32" ? ["SYSTEMROOT", "WINDIR", "LOCALAPPDATA", "PROGRAMFILES"] : [];
  const names = ["PATH", "LANG", "TZ", "TMPDIR", "TMP", "TEMP", ...needed, ...(headless ? [] : shown)];
  const taken = names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]] as const]));
  return { ...Object.fromEntries(taken), HOME: root };
}

// The switches of Chromium that we add to the library's, or take away: peter.sh/experiments/chromium-command-line-switches.

/** The proxy is the only way out: nothing is resolved, and nothing but TCP to the proxy is sent, by the browser itself. */
const ONE_WAY_OUT = [
  "--disable-quic",
  // The switch that lists of switches name, --force-webrtc-ip-handling-policy, does nothing any more (Chromium 156).
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--dns-prefetch-disable",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** No background requests, no speech, no notifications. */
const QUIET = ["--disable-domain-reliability", "--no-pings", "--disable-speech-api", "--disable-notifications"];

/** A page takes no more of the machine than this. */
const BOUNDED = [
  "--disk-cache-size=67108864",
  "--media-cache-size=16777216",
  "--renderer-process-limit=8",
  "--js-flags=--max-old-space-size=1024",
];

/**
 * The last of these two switches wins, so that the library's own are named again. The popups of the address bar, which an agent never uses,
 * are pages that a browser loads at its start: half of its processor time, and 50 MB.
 */
const FEATURES_OFF = [
  "AcceptCHFrame",
  "AimEnabled",
  "AutofillServerCommunication",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "CertificateTransparencyComponentUpdater",
  "DestroyProfileOnBrowserClose",
  "DialMediaRouteProvider",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "Prerender2",
  "Translate",
  "WebUIOmniboxAimPopup",
  "WebUIOmniboxPopup",
];

/** Bytes that all pages of a browser may keep on the disk together. */
const STORAGE_BYTES = 268_435_456;
const FEATURES_ON = [
  "CDPScreenshotNewSurface",
  "SkipListAccountsWithoutGaiaCookies",
  `StorageQuotaSettings:PoolSizeBytes/${STORAGE_BYTES}`,
];

const SWITCHES: readonly string[] = [
  ...ONE_WAY_OUT,
  ...QUIET,
  ...BOUNDED,
  "--disable-gpu",
  `--disable-features=${FEATURES_OFF.join(",")}`,
  `--enable-features=${FEATURES_ON.join(",")}`,
];

/** Switches of the library that are meant for tests of trusted pages. Without them Chromium protects from hostile pages. */
const SWITCHES_NOT_TAKEN: string[] = [
  "--disable-hang-monitor",
  "--disable-ipc-flooding-protection",
  "--disable-popup-blocking",
  "--disable-prompt-on-repost",
  "--enable-unsafe-swiftshader",
  "--unsafely-disable-devtools-self-xss-warnings",
];
