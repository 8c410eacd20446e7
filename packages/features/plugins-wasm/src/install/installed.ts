/** What is in a plugin's place before an install changes it. */
import { lstat } from "node:fs/promises";
import { join } from "node:path";
import { type Approval, readApproval } from "../manifest/approval.ts";
import { readPlugin } from "../manifest/read-plugins.ts";

export interface Installed {
  /** undefined: there is none that can be read. */
  readonly approval: Approval | undefined;
  /** It is as it was approved. */
  readonly isIntact: boolean;
}

/** undefined: nothing. */
export async function installedAt(pluginsFolder: string, name: string): Promise<Installed | undefined> {
  const folder = join(pluginsFolder, name);
  const isThere = await lstat(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  const approval = await readApproval(folder).catch(() => undefined);
  const isIntact = await readPlugin(folder, name).then(
    () => true,
    () => false,
  );
  return { approval, isIntact };
}

/** Nobody changed it since it was looked at. */
export const isUnchanged = (before: Installed | undefined, now: Installed | undefined): boolean =>
  (before === undefined) === (now === undefined) &&
  before?.isIntact === now?.isIntact &&
  before?.approval?.release === now?.approval?.release;
