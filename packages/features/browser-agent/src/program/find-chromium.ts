import { constants } from "node:fs";
import { access, readdir } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { SvcError } from "@svc/contract";

/** The Chromium that the program is told to start. `configured`: `browser.chromium_path`. Throws BROWSER_UNAVAILABLE. */
export async function findChromium(configured: string | undefined, places?: readonly string[]): Promise<string> {
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

const isProgram = (file: string): Promise<boolean> =>
  access(file, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Where `agent-browser install` puts Chrome for Testing, newest first. The program itself has a HOME of ours, and looks there. */
async function installedByIt(): Promise<string[]> {
  const browsers = join(homedir(), ".agent-browser", "browsers");
  const names = await readdir(browsers).catch(() => []);
  const newest = names.filter((name) => name.startsWith("chrome-")).toSorted((a, b) => compare(b, a));
  return newest.flatMap((name) => IN_PACKAGE.map((file) => join(browsers, name, ...file.split("/"))));
}

const { compare } = new Intl.Collator("en", { numeric: true });

const MAC = "Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing";
/** Of an unpacked Chrome for Testing, with the archive's own folder and without. */
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
