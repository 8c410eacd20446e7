/** The switches of Chromium that we add to the library's, or take away: peter.sh/experiments/chromium-command-line-switches. */

/** The proxy is the only way out: nothing is resolved, and nothing but TCP to the proxy is sent, by the browser itself. */
const ONE_WAY_OUT = [
  "--disable-quic",
  // The switch that lists of switches name, --force-webrtc-ip-handling-policy, does nothing any more (Chromium 156).
  "--webrtc-ip-handling-policy=disable_non_proxied_udp",
  "--dns-prefetch-disable",
  "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

/** Nothing that a page did not ask for. */
const QUIET = ["--disable-domain-reliability", "--no-pings", "--disable-speech-api", "--disable-notifications"];

/** A page takes no more of the machine than this. */
const BOUNDED = [
  "--disk-cache-size=67108864",
  "--media-cache-size=16777216",
  "--renderer-process-limit=8",
  "--js-flags=--max-old-space-size=1024",
];

/**
 * The last of these two switches wins, so that the library's own are named again. The popups of the address bar, which nobody uses,
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

export const SWITCHES: readonly string[] = [
  ...ONE_WAY_OUT,
  ...QUIET,
  ...BOUNDED,
  "--disable-gpu",
  `--disable-features=${FEATURES_OFF.join(",")}`,
  `--enable-features=${FEATURES_ON.join(",")}`,
];

/** Of the library's, which are for tests of one's own pages: these protect from pages of strangers. */
export const SWITCHES_NOT_TAKEN: string[] = [
  "--disable-hang-monitor",
  "--disable-ipc-flooding-protection",
  "--disable-popup-blocking",
  "--disable-prompt-on-repost",
  "--enable-unsafe-swiftshader",
  "--unsafely-disable-devtools-self-xss-warnings",
];
