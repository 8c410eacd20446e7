/** `svc open`: the page in this machine's browser, signed in. */
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Home } from "@svc/config";
import { homeOf } from "@svc/config/home";
import { EXIT, SvcError } from "@svc/contract";
import { systemClock } from "@svc/kit/system-clock";
import { daemonAt } from "../service/control.ts";
import type { CommandContext } from "../cli/command.ts";

export async function run(context: CommandContext): Promise<number> {
  const { options, env } = context;
  const home = homeOf(env);
  const name = `browser ${randomBytes(3).toString("hex")}`;
  const issued = await daemonAt(home.controlSocket)({ name: "pair", body: { name } });
  const opener = options.flag("print") ? undefined : openerOf(env);
  if (options.flag("json")) context.printJson({ url: issued.url, ...(opener ? {} : { link: issued.link }) });
  else
    context.print(
      opener ? `Opening ${issued.url}` : `Open this in a browser on this machine; it works once:\n  ${issued.link}`,
    );
  if (!opener) return EXIT.ok;
  return await withLinkFile(home, issued.link, async (file) => {
    await launched(opener, pathToFileURL(file).href);
    if (await isPaired(home, name)) return EXIT.ok;
    throw new SvcError("NOT_RUNNING", "No browser has opened the page.", { hint: "Use: svc open --print" });
  });
}

/** The program that shows an address; undefined: nobody sits at a screen here. */
function openerOf(env: CommandContext["env"]): readonly string[] | undefined {
  const chosen = env["BROWSER"]?.split(":")[0]?.trim();
  if (chosen) return chosen.split(/\s+/);
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["explorer"];
  return env["DISPLAY"] || env["WAYLAND_DISPLAY"] ? ["xdg-open"] : undefined;
}

/**
 * The code is in a file that only this user can read: on a command line every user of the machine would see it, and could be quicker
 * than the browser.
 */
async function withLinkFile<Result>(
  { root }: Home,
  link: string,
  use: (file: string) => Promise<Result>,
): Promise<Result> {
  const folder = join(root, "run");
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `open-${randomBytes(8).toString("hex")}.html`);
  // The link is of our own making: an address and six digits.
  const page = `<!doctype html><meta http-equiv="refresh" content="0;url=${encodeURI(link)}"><title>svc</title>\n`;
  writeFileSync(file, page, { flag: "wx", mode: 0o600 });
  try {
    return await use(file);
  } finally {
    unlinkSync(file);
  }
}

function launched([program = "", ...options]: readonly string[], address: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...options, address], { stdio: "ignore", detached: true });
    child.once("error", (cause) =>
      reject(new SvcError("USAGE", "No browser could be started.", { hint: "Use: svc open --print", cause })),
    );
    child.once("spawn", () => {
      child.unref();
      resolve();
    });
  });
}

const LOOK_MS = 250;
const MOST_LOOKS = 240;

/** The browser has traded the code: it takes its time where it has to start first. */
async function isPaired({ controlSocket }: Home, name: string): Promise<boolean> {
  for (let look = 0; look < MOST_LOOKS; look += 1) {
    const { devices } = await daemonAt(controlSocket)({ name: "devices" });
    if (devices.some((device) => device.name === name)) return true;
    await systemClock.sleep(LOOK_MS);
  }
  return false;
}
