/**
 * Files that came with messages go when the messages go. Only what stands where the service has put it is removed: what the
 * agent or a person has moved is theirs.
 */
import { dirname } from "node:path/posix";
import { type InboundMedia, type Logger, SvcError, type Workspace } from "@svc/contract";
import type { FiledMessage } from "@svc/store";
import { DAY_FOLDER, MEDIA_FOLDER, mediaPath } from "@svc/agent";
import { jsonAs } from "@svc/kit";

/**
 * `workspaces`: of all agents, for the channel may have had another agent then. Never rejects: a file that the system does
 * not let go must not keep the messages, and the log says so.
 */
export async function removeFiles(
  workspaces: readonly Workspace[],
  log: Logger,
  messages: readonly FiledMessage[],
): Promise<void> {
  const trouble = new Trouble();
  const roots = apart(workspaces);
  const folders = new Set<string>();
  for (const message of messages) {
    for (const path of await pathsOf(message).catch(() => [])) {
      folders.add(dirname(path));
      for (const workspace of roots) await trouble.during(() => workspace.remove(path));
    }
  }
  for (const folder of folders) for (const workspace of roots) await trouble.during(() => workspace.remove(folder));
  trouble.tell(log, "files of old messages could not be removed");
}

/**
 * What `Workspace.write` was filling when the process was killed. Call before anything writes: a file that is being filled
 * looks the same. Never rejects.
 */
export async function removeLeftovers(workspaces: readonly Workspace[], log: Logger): Promise<void> {
  const trouble = new Trouble();
  for (const workspace of apart(workspaces)) {
    const days = (await entriesOf(workspace, MEDIA_FOLDER)).filter(({ name }) => DAY_FOLDER.test(name));
    for (const day of days) {
      const folder = `${MEDIA_FOLDER}/${day.name}`;
      const leftovers = (await entriesOf(workspace, folder)).filter(({ name }) => LEFTOVER.test(name));
      for (const { name } of leftovers) await trouble.during(() => workspace.remove(`${folder}/${name}`));
    }
  }
  trouble.tell(log, "unfinished files of an earlier process could not be removed");
}

/** The temporary names of write-bytes.ts. */
const LEFTOVER = /^\.svc-[0-9a-f]{16}\.tmp$/;
/** Names that begin with a dot come first: of a folder with very many files these are seen all the same. */
const MOST_ENTRIES = 10_000;

const entriesOf = (workspace: Workspace, folder: string) =>
  workspace.list(folder, MOST_ENTRIES).then(
    ({ entries }) => entries,
    () => [],
  );

/** What is on disk was an `InboundMedia` when it was kept; a damaged one names no file. */
const pathsOf = async ({ n, receivedAtMs, media }: FiledMessage): Promise<string[]> =>
  Promise.all(jsonAs<InboundMedia[]>(media).map((file, place) => mediaPath(file, n, place, receivedAtMs)));

/** Two agents may share one. */
const apart = (workspaces: readonly Workspace[]): Workspace[] => [
  ...new Map(workspaces.map((workspace) => [workspace.root, workspace])).values(),
];

/** One line for all of it. */
class Trouble {
  #count = 0;
  #code: string | undefined;

  async during(removal: () => Promise<unknown>): Promise<void> {
    try {
      await removal();
    } catch (error) {
      const code = error instanceof SvcError ? error.code : "INTERNAL";
      // Something else stands there by now, or the rules forbid it: not ours to touch. A folder that is not empty stays.
      if (code === "TOOL_BAD_INPUT" || code.startsWith("PATH_")) return;
      this.#count += 1;
      this.#code = code;
    }
  }

  tell(log: Logger, message: string): void {
    if (this.#count > 0) log.warn(message, { count: this.#count, code: this.#code });
  }
}
