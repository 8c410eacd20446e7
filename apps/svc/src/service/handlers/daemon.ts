/** What only a running daemon can do for `svc`: its status, pairing codes, reload, restart, backup and restore. */
import { isAbsolute } from "node:path";
import type { Home } from "@svc/config";
import { SvcError } from "@svc/contract";
import type { Gateway } from "@svc/gateway";
import type { Store } from "@svc/store";
import type { CommandContext } from "../../cli/command.ts";
import type { Handlers } from "../control.ts";
import type { Reloader } from "../reload.ts";
import type { Service } from "../service.ts";
import { doctorHandlers } from "./doctor.ts";
import { deviceHandlers } from "./devices.ts";
import { serviceHandlers } from "./service.ts";
import { statusReport } from "../status.ts";
import type { RestoredFiles } from "../../backup/prepare-restore.ts";

interface DaemonDeps {
  readonly context: Pick<CommandContext, "build" | "env">;
  readonly service: Service;
  readonly gateway: Gateway;
  readonly reloader: Pick<Reloader, "reload">;
  /** False: it restarts already. `between` is called while nothing is open. */
  readonly restart: { ask(between?: () => void): boolean };
}

export async function daemonHandlers({ context, service, gateway, reloader, restart }: DaemonDeps): Promise<Handlers> {
  return {
    ...(await serviceHandlers(service)),
    ...deviceHandlers(gateway.devices),
    ...doctorHandlers(service, gateway),
    ...backupHandlers({
      home: service.context.home,
      store: service.store,
      checkStart: async (files) => {
        const { restoredConfig } = await import("../../backup/prepare-restore.ts");
        const { home, composition } = service.context;
        const config = await restoredConfig(home, files, composition, context.env);
        await gateway.checkSuccessor((config ?? service.config).core.gateway);
      },
      restart: (between) => restart.ask(between),
    }),
    status: () => statusReport(context.build, service, gateway),
    reload: () => reloader.reload(),
    restart: async () => {
      // What would not come up again is told now: later there would be nobody left to tell.
      await gateway.checkSuccessor((await service.context.load()).core.gateway);
      return { restarting: restart.ask() };
    },
    pair: ({ body }) => {
      const { code, expiresAt } = gateway.pairing.issueCode(body);
      const { local, remote } = gateway.linksOf(code);
      return {
        code,
        expires_at: new Date(expiresAt).toISOString(),
        url: gateway.url,
        link: local,
        remote_link: remote ?? null,
      };
    },
  };
}

/** What a running daemon does for `svc backup` and `svc restore`. */
interface BackupDeps {
  readonly home: Home;
  readonly store: Pick<Store, "backupTo">;
  /** Throws what stands in the way of a start with these files: later there would be nobody left to tell. */
  readonly checkStart: (files: RestoredFiles) => Promise<void>;
  /** Goes all the way down and comes again; `between` is called while nothing is open. False: it does so already. */
  readonly restart: (between: () => void) => boolean;
}

function backupHandlers({ home, store, checkStart, restart }: BackupDeps): Pick<Handlers, "backup" | "restore"> {
  return {
    /** The database alone, for when only the daemon can read it: after a start on a full disk. */
    backup: async ({ body: { file } }) => {
      if (!isAbsolute(file)) throw new SvcError("BAD_REQUEST");
      await store.backupTo(file);
      return { file };
    },
    /** Files that `svc restore` has unpacked and checked in the home. */
    restore: async ({ body: { folder } }) => {
      const { restoredFiles } = await import("../../backup/prepare-restore.ts");
      const files = restoredFiles(home, folder);
      await checkStart(files);
      if (!restart(() => files.apply())) throw new SvcError("BUSY", "The daemon is restarting already.");
      return { restoring: true };
    },
  };
}
