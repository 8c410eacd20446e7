import { constants } from "node:fs";
import { access, realpath } from "node:fs/promises";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { SvcError } from "@svc/contract";

/** The program to start. `configured`: `browser.agent_browser_path`. Throws BROWSER_UNAVAILABLE. */
export async function findAgentBrowser(configured: string | undefined, path = process.env["PATH"]): Promise<string> {
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

export const INSTALL =
  "Install it with npm install -g agent-browser, or set browser.agent_browser_path to the program; " +
  'browser.backend = "native" needs no program beside Chromium.';

const isProgram = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );
