/** The backend `agent_browser`: the program agent-browser, which drives an installed Chromium; finds both. */
import { type Clock, type Contributions, type FeatureContext, SvcError } from "@svc/contract";
import { type BrowserDriver, browserFeature, browserSettings } from "@svc/kit/browser";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { browserKeeper, removeLeftOvers } from "./keeper.ts";
import { openAgentSession } from "./session.ts";
import { runProcess } from "@svc/kit/process";
import { spawn } from "node:child_process";
import { constants } from "node:fs";
import { access, readdir, realpath } from "node:fs/promises";
import { homedir } from "node:os";

export const create = (context: FeatureContext): Contributions => browserFeature(context, agentDriver(context));

export function agentDriver(context: FeatureContext): BrowserDriver {
  const { agent_browser_path: path, chromium_path: chromiumPath, idle_secs: idleSecs } = browserSettings(context);
  const { clock, log, homeFolder } = context;
  const folders = join(homeFolder, "run", "browser");
  const keeper = browserKeeper(folders, (name) => context.child(name), log);
  return {
    backend: "agent_browser",
    proxied: true,
    // With a password of the proxy the program waits for itself when a click opens a window (agent-browser 0.41.2).
    proxyPassword: false,
    async check(signal) {
      const file = await findAgentBrowser(path);
      log.info("the browser is driven by agent-browser", { version: await checkVersion(file, { clock, signal }) });
      await findChromium(chromiumPath);
      await removeLeftOvers(folders);
      if (isRoot()) log.warn("svc runs as root: Chromium runs without its own sandbox; run svc as a separate user");
    },
    async open({ proxy, signal }) {
      if (proxy === undefined) throw new SvcError("BROWSER_UNAVAILABLE", "The browser has no proxy.");
      const [file, chromium] = await Promise.all([findAgentBrowser(path), findChromium(chromiumPath)]);
      keeper.watch();
      const sandbox = !isRoot();
      return openAgentSession({
        file,
        chromium,
        sandbox,
        folders,
        prefix: keeper.prefix,
        proxy,
        idleSecs,
        clock,
        log,
        signal,
      });
    },
    async shutdown() {
      keeper.end();
    },
  };
}

/** Chromium's sandbox refuses to work for root. */
const isRoot = (): boolean => process.getuid?.() === 0;

/** The program to start. `configured`: `browser.agent_browser_path`. Throws BROWSER_UNAVAILABLE. */
async function findAgentBrowser(configured: string | undefined, path = process.env["PATH"]): Promise<string> {
  return native(await installed(configured, path));
}

/**
 * npm installs a script of Node's that starts the program beside it: started without the script, each command is done in a tenth of
 * the time.
 */
async function native(file: string): Promise<string> {
  const script = await realpath(file);
  if (basename(script) !== "agent-browser.js") return file;
  const kind =
    process.platform === "linux" && (await isProgram("/lib/ld-musl-x86_64.so.1")) ? "linux-musl" : process.platform;
  const beside = join(
    dirname(script),
    `agent-browser-${kind}-${process.arch}${process.platform === "win32" ? ".exe" : ""}`,
  );
  return (await isProgram(beside)) ? beside : file;
}

async function installed(configured: string | undefined, path: string | undefined): Promise<string> {
  if (configured !== undefined && configured.trim() !== "") {
    if (isAbsolute(configured) && (await isProgram(configured))) return configured;
    throw new SvcError("BROWSER_UNAVAILABLE", "There is no program at browser.agent_browser_path.", {
      hint: `Name its file with the whole path, or leave the key out. ${INSTALL}`,
    });
  }
  // A relative folder means another program wherever svc is started.
  const folders = (path ?? "").split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    for (const name of NAMES) if (await isProgram(join(folder, name))) return join(folder, name);
  }
  throw new SvcError("BROWSER_UNAVAILABLE", "The program agent-browser is not installed.", { hint: INSTALL });
}

const NAMES = process.platform === "win32" ? ["agent-browser.exe"] : ["agent-browser"];

const INSTALL =
  "Install it with npm install -g agent-browser, or set browser.agent_browser_path to the program; " +
  'browser.backend = "native" needs no program beside Chromium.';

const isProgram = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

interface CheckOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** The program's version, e.g. `0.41.2`. Throws BROWSER_UNAVAILABLE for another program, and for one that is too old. */
async function checkVersion(file: string, { clock, signal }: CheckOptions): Promise<string> {
  const { stdout, exitCode } = await runProcess({
    start: (marks) =>
      spawn(file, ["--version"], {
        env: { PATH: process.env["PATH"] ?? "", ...marks },
        stdio: ["ignore", "pipe", "pipe"],
        detached: process.platform !== "win32",
      }),
    stdin: undefined,
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: 1000,
    signal,
    graceMs: 500,
    clock,
  }).catch((cause: unknown) => {
    signal.throwIfAborted();
    throw new SvcError("BROWSER_UNAVAILABLE", "The program agent-browser can't be started.", { hint: INSTALL, cause });
  });
  const [, version, major, minor] = /^agent-browser ((\d{1,5})\.(\d{1,5})\.\d{1,5}\S{0,30})\s*$/.exec(stdout) ?? [];
  if (exitCode !== 0 || version === undefined) {
    throw new SvcError("BROWSER_UNAVAILABLE", "The program does not tell a version, as agent-browser does.", {
      hint: INSTALL,
    });
  }
  // The oldest version with the needed features: batch commands from standard input, and --omit-command.
  if (Number(major) === 0 && Number(minor) < OLDEST_MINOR) {
    throw new SvcError("BROWSER_UNAVAILABLE", `agent-browser is too old: at least 0.${OLDEST_MINOR} is needed.`, {
      hint: "Bring it up to date with npm install -g agent-browser@latest.",
    });
  }
  return version;
}

const OLDEST_MINOR = 41;
const TIMEOUT_MS = 10_000;

/** The Chromium for the program to start. `configured`: `browser.chromium_path`. Throws BROWSER_UNAVAILABLE. */
async function findChromium(configured: string | undefined, places?: readonly string[]): Promise<string> {
  if (configured !== undefined && configured.trim() !== "") {
    if (await isProgram(configured)) return configured;
    throw new SvcError("BROWSER_UNAVAILABLE", "There is no program at browser.chromium_path.", {
      hint: "Name the file of an installed Chromium or Chrome, or leave the key out.",
    });
  }
  for (const place of places ?? [...(await installedByIt()), ...usualPlaces()])
    if (await isProgram(place)) return place;
  throw new SvcError("BROWSER_UNAVAILABLE", "No Chromium is installed in a usual place.", {
    hint: "Run agent-browser install, install Chromium or Chrome, or set browser.chromium_path to the program.",
  });
}

/** Where `agent-browser install` puts Chrome for Testing, newest first. The program itself has a HOME of ours, and looks there. */
async function installedByIt(): Promise<string[]> {
  const browsers = join(homedir(), ".agent-browser", "browsers");
  const names = await readdir(browsers).catch(() => []);
  const newest = names.filter((name) => name.startsWith("chrome-")).toSorted((a, b) => compare(b, a));
  return newest.flatMap((name) => IN_PACKAGE.map((file) => join(browsers, name, ...file.split("/"))));
}

const { compare } = new Intl.Collator("en", { numeric: true });

const MAC = "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing";
/** Paths in an unpacked Chrome for Testing, with the archive's own folder and without. */
const IN_PACKAGE = ["chrome", "chrome.exe", MAC, "chrome-linux64/chrome", "chrome-win64/chrome.exe"].concat(
  `chrome-mac-arm64/${MAC}`,
  `chrome-mac-x64/${MAC}`,
);

function usualPlaces(): string[] {
  if (process.platform === "darwin") {
    return ["Chromium", "Google Chrome"].map((name) => `/Applications/${name}.app/Contents/MacOS/${name}`);
  }
  if (process.platform === "win32") {
    const roots = ["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"].flatMap((name) => process.env[name] ?? []);
    const programs = ["Chromium\\Application\\chrome.exe", "Google\\Chrome\\Application\\chrome.exe"];
    return roots.flatMap((root) => programs.map((program) => join(root, program)));
  }
  const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome"];
  return [...names.flatMap((name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`]), "/snap/bin/chromium"];
}
