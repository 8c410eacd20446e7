/** Keeping what the service knows. */
import type { CommandEntry } from "../command.ts";
import { JSON_OPTION } from "./options.ts";

export const data: readonly CommandEntry[] = [
  {
    usage: "backup [file]",
    summary: "Write config, key and database to one file, while the service runs",
    options: [
      ["--without-key", "Leave out the key of the encrypted secrets"],
      ["--workspace", "Also the workspace folder of the home"],
      JSON_OPTION,
    ],
    examples: ["svc backup", "svc backup /mnt/backups", "svc backup --without-key svc.tar.gz"],
    load: () => import("../../commands/backup.ts"),
  },
  {
    usage: "restore <file>",
    summary: "Restore a backup; the current state is moved aside",
    options: [
      [
        "--with-waiting",
        "Answer and send messages that were waiting; by default they are set aside, because they may have been sent since",
      ],
      ["--yes", "Do not ask"],
      JSON_OPTION,
    ],
    examples: ["svc restore svc-backup-20260101T120000Z.tar.gz"],
    load: () => import("../../commands/restore.ts"),
  },
];
