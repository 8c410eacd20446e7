/** Who may talk to the service. */
import type { CommandEntry } from "../command.ts";
import { JSON_OPTION } from "./options.ts";

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
];
