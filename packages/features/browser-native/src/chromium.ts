/** An installed Chromium: where its program is, and the profile folder of one browser. */
import { constants } from "node:fs";
import { access, mkdir, mkdtemp, readdir } from "node:fs/promises";
import { join } from "node:path";
import { SvcError } from "@svc/contract";
import { makeProfile } from "@svc/kit/browser";
import { removePath } from "@svc/kit/files";

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

/** The folder of one browser: new at its start, removed at its end. Below `$SVC_HOME/run/browser`, which only the daemon may read. */
export interface ProfileFolder {
  /** What Chromium keeps of itself. */
  readonly profile: string;
  readonly downloads: string;
  /** Its HOME, and the folder of everything it needs while it runs. */
  readonly root: string;
  remove(): Promise<void>;
}

export async function profileFolder(profiles: string): Promise<ProfileFolder> {
  await mkdir(profiles, { recursive: true, mode: 0o700 });
  const root = await mkdtemp(join(profiles, ownPrefix()));
  const [profile, downloads] = [join(root, "profile"), join(root, "downloads")];
  await Promise.all([makeProfile(profile), mkdir(downloads, { mode: 0o700 })]);
  return { root, profile, downloads, remove: async () => void (await removePath(root)) };
}

/** Removes folders that a killed process left. One daemon uses a home, so every folder of another process is a left-over. */
export async function removeLeftOvers(profiles: string): Promise<void> {
  const names = await readdir(profiles).catch(() => []);
  const old = names.filter((name) => !name.startsWith(ownPrefix()));
  await Promise.all(old.map((name) => removePath(join(profiles, name))));
}

/** Not the process number alone: it is reused, and in a container it is always the same. */
const ownPrefix = (): string => `${process.pid}-${Math.round(performance.timeOrigin)}-`;
