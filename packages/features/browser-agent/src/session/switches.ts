/** Switches of Chromium that are added to the program's: peter.sh/experiments/chromium-command-line-switches. */
export const switches = ({ sandbox, proxy }: SwitchOptions): readonly string[] => [
  // Not by the program's own option: a browser that its batch starts with a bare open has none of it (agent-browser 0.41.2).
  `--proxy-server=${proxy}`,
  // Without this, what is on this machine would be reached past the proxy.
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
  // The last of this switch wins, so that the program's own is named again. Nobody types into the address bar: its popups are pages
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
