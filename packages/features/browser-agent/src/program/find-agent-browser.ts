import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { SvcError } from "@svc/contract";

/** The program to start. `configured`: `browser.agent_browser_path`. Throws BROWSER_UNAVAILABLE. */
export async function findAgentBrowser(configured: string | undefined, path = process.env["PATH"]): Promise<string> {
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
