/** The folder of one browser: new when it starts, gone when it ends. Below `$SVC_HOME/run/browser`, which only we may read. */
import { mkdir, mkdtemp, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { makeProfile } from "@svc/kit/browser";
import { removePath } from "@svc/kit/files";
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
  await Promise.all([makeProfile(profile), mkdir(downloads, { mode: 0o700 }), mkdir(files, { mode: 0o700 })]);
  await writeFile(folder.script, DIALOGS_SCRIPT);
  const remove = async (): Promise<void> => {
    for (const path of [temporary, root]) await removePath(path);
  };
  return { ...folder, remove };
}
