import { constants } from "node:fs";
import { access } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "@svc/contract";

/** The program to start. `configured`: `browser.chromium_path`. Throws BROWSER_UNAVAILABLE. */
export async function findChromium(
  configured: string | undefined,
  places: readonly string[] = usualPlaces(),
): Promise<string> {
  if (configured !== undefined && configured.trim() !== "") {
    if (await isProgram(configured)) return configured;
    throw new SvcError("BROWSER_UNAVAILABLE", "There is no program at browser.chromium_path.", {
      hint: "Name the file of an installed Chromium or Chrome, or leave the key out.",
    });
  }
  for (const place of places) if (await isProgram(place)) return place;
  throw new SvcError("BROWSER_UNAVAILABLE", "No Chromium is installed in a usual place.", {
    hint: "Install Chromium or Chrome, or set browser.chromium_path to the program.",
  });
}

const isProgram = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

function usualPlaces(): string[] {
  if (process.platform === "darwin") {
    return ["Chromium", "Google Chrome", "Microsoft Edge"].flatMap((name) =>
      ["/Applications", join(process.env["HOME"] ?? "/", "Applications")].map((folder) =>
        join(folder, `${name}.app`, "Contents", "MacOS", name),
      ),
    );
  }
  if (process.platform === "win32") {
    const roots = ["PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA"].flatMap((name) => process.env[name] ?? []);
    const programs = ["Chromium\\Application\\chrome.exe", "Google\\Chrome\\Application\\chrome.exe"];
    return [...programs, "Microsoft\\Edge\\Application\\msedge.exe"].flatMap((program) =>
      roots.map((root) => join(root, program)),
    );
  }
  const names = ["chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge-stable"];
  return [...names.flatMap((name) => [`/usr/bin/${name}`, `/usr/local/bin/${name}`]), "/snap/bin/chromium"];
}
