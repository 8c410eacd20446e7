/** What a running daemon does for `svc backup` and `svc restore`. */
import { isAbsolute } from "node:path";
import { SvcError } from "@svc/contract";
import type { ControlHandlers } from "@svc/gateway/control";
import type { Home } from "@svc/config";
import type { Store } from "@svc/store";
import type { RestoredFiles } from "./restored-files.ts";

export interface BackupDeps {
  readonly home: Home;
  readonly store: Pick<Store, "backupTo">;
  /** Throws what stands in the way of a start with these files: later there would be nobody left to tell. */
  readonly checkStart: (files: RestoredFiles) => Promise<void>;
  /** Goes all the way down and comes again; `between` is called while nothing is open. False: it does so already. */
  readonly restart: (between: () => void) => boolean;
}

export function backupHandlers({ home, store, checkStart, restart }: BackupDeps): ControlHandlers {
  return {
    /** The database alone, for when only the daemon can read it: after a start on a full disk. */
    backup: async ({ body: { file } }) => {
      if (typeof file !== "string" || !isAbsolute(file)) throw new SvcError("BAD_REQUEST");
      await store.backupTo(file);
      return { file };
    },
    /** Files that `svc restore` has unpacked and checked in the home. */
    restore: async ({ body: { folder } }) => {
      const { restoredFiles } = await import("./restored-files.ts");
      const files = restoredFiles(home, typeof folder === "string" ? folder : "");
      await checkStart(files);
      if (!restart(() => files.apply())) throw new SvcError("BUSY", "The daemon is restarting already.");
      return { restoring: true };
    },
  };
}
