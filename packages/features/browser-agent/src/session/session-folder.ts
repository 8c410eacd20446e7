/** The folder of one browser: new when it starts, gone when it ends. Below `$SVC_HOME/run/browser`, which only we may read. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { DIALOGS_SCRIPT } from "./dialogs.ts";
import { TEMPORARY } from "../keeper/left-overs.ts";

export interface SessionFolder {
  /** Its last part, which is also the mark of its processes. */
  readonly name: string;
  /** HOME of the program. */
  readonly root: string;
  readonly profile: string;
  /** Elsewhere, and short: the program and Chromium make sockets in it, whose paths may have about a hundred characters. */
  readonly temporary: string;
  readonly downloads: string;
  /** What the driver hands in and takes out. */
  readonly files: string;
  /** What every document runs first. */
  readonly script: string;
  remove(): Promise<void>;
}

/** `prefix`: what its name begins with. */
export async function sessionFolder(folders: string, prefix: string): Promise<SessionFolder> {
  await mkdir(folders, { recursive: true, mode: 0o700 });
  const root = await mkdtemp(join(folders, prefix));
  const inside = (name: string): string => join(root, name);
  const temporary = await mkdtemp(join(tmpdir(), "svc-"));
  // So that whoever finds the folder finds this one too.
  await symlink(temporary, join(root, TEMPORARY));
  const folder = {
    name: basename(root),
    root,
    profile: inside("profile"),
    temporary,
    downloads: inside("downloads"),
    files: inside("files"),
    // The program takes a list with commas: no folder of the operator's naming is in this path.
    script: join(temporary, "dialogs.js"),
  };
  const { profile, downloads, files } = folder;
  await Promise.all(
    [join(profile, "Default"), downloads, files].map((path) => mkdir(path, { recursive: true, mode: 0o700 })),
  );
  await writeFile(folder.script, DIALOGS_SCRIPT);
  await writeFile(join(profile, "Default", "Preferences"), JSON.stringify(PREFERENCES));
  const remove = async (): Promise<void> => {
    // Chromium's last writes come after its process is told to end.
    for (const path of [temporary, root]) await rm(path, { recursive: true, force: true, maxRetries: 5 });
  };
  return { ...folder, remove };
}

/** What no switch sets: chrome/common/pref_names.h of Chromium. */
const PREFERENCES = {
  alternate_error_pages: { enabled: false },
  autofill: { enabled: false, profile_enabled: false, credit_card_enabled: false },
  credentials_enable_service: false,
  dns_prefetching: { enabled: false },
  // 2: never guess what is opened next.
  net: { network_prediction_options: 2 },
  // A PDF is a download, in every mode alike.
  plugins: { always_open_pdf_externally: true },
  profile: { password_manager_enabled: false },
  safebrowsing: { enabled: false },
  search: { suggest_enabled: false },
  signin: { allowed: false, allowed_on_next_startup: false },
  translate: { enabled: false },
  webrtc: { ip_handling_policy: "disable_non_proxied_udp" },
};
