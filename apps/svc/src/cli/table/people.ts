/** Who may talk to the service, and what was said. */
import type { CommandEntry } from "../command.ts";
import { JSON_OPTION, YES_OPTION } from "./options.ts";

export const people: readonly CommandEntry[] = [
  {
    usage: "pair",
    summary: "Make a pairing code for a new device",
    options: [
      ["--scope <scope>", "operator (default), webhook or read"],
      ["--name <name>", "Name of the device"],
      JSON_OPTION,
    ],
    examples: ["svc pair", "svc pair --scope webhook --name ci"],
    load: () => import("../../commands/pair.ts"),
  },
  {
    usage: "open",
    summary: "Open the page in this machine's browser, signed in",
    options: [["--print", "Print the link that signs a browser in, and open nothing"], JSON_OPTION],
    examples: ["svc open", "svc open --print"],
    load: () => import("../../commands/open.ts"),
  },
  {
    usage: "devices <action>",
    summary: "list, rename or revoke the paired devices",
    options: [YES_OPTION, JSON_OPTION],
    examples: [
      "svc devices list",
      'svc devices rename 3f2a "kitchen tablet"',
      'svc devices revoke "kitchen tablet"',
      "svc devices revoke 3f2a",
    ],
    actions: ["list", "rename <id> <name>", "revoke <id>"],
    load: () => import("../../commands/devices.ts"),
  },
  {
    usage: "passkeys <action>",
    summary: "list, rename or remove the passkeys of the paired devices",
    options: [["--user-id <id>", "Only those of this user_id"], YES_OPTION, JSON_OPTION],
    examples: [
      "svc passkeys list --user-id ann",
      'svc passkeys rename Wj0DkL "the blue key"',
      "svc passkeys remove Wj0DkL --yes",
    ],
    actions: ["list", "rename <id> <name>", "remove <id>"],
    load: () => import("../../commands/passkeys.ts"),
  },
  {
    usage: "sessions <action>",
    summary: "list, search, show, name, pin, archive, export, cancel or delete conversations",
    options: [
      ["--limit <count>", "Most conversations listed (50), or messages shown or found (20)"],
      ["--archived", "List archived conversations"],
      ["--format <format>", "export: markdown (default) or json"],
      ["--before <cursor>", "Show the messages before these"],
      YES_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "svc sessions list",
      'svc sessions search "read-only file system"',
      "svc sessions show 3f2a --limit 5",
      'svc sessions rename 3f2a "Nightly backup"',
      "svc sessions export 3f2a > backup.md",
    ],
    actions: [
      "list",
      "search <words>",
      "show <id>",
      "rename <id> <title>",
      "pin <id>",
      "unpin <id>",
      "archive <id>",
      "unarchive <id>",
      "export <id>",
      "cancel <id>",
      "delete <id>",
    ],
    load: () => import("../../commands/sessions.ts"),
  },
];
