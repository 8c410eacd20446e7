/** The config, and what the build can do. */
import type { CommandEntry } from "../command.ts";
import { CONFIG_OPTION, JSON_OPTION } from "./options.ts";

export const settings: readonly CommandEntry[] = [
  {
    usage: "config <action>",
    summary: "check, show or schema: validate the config, print what is in force, print its JSON Schema",
    options: [JSON_OPTION, CONFIG_OPTION],
    examples: ["svc config check", "svc config show", "svc config schema > config.schema.json"],
    actions: ["check", "show", "schema"],
    load: () => import("../../commands/config.ts"),
  },
  {
    usage: "tools <action> [name]",
    summary: "list the agent's tools, or run one under its policy and sandbox",
    options: [["--input <json>", "Input of the tool (default: {})"], JSON_OPTION, CONFIG_OPTION],
    examples: ["svc tools list", `svc tools run file_read --input '{"path":"notes.txt"}'`],
    actions: ["list", "run"],
    load: () => import("../../commands/tools.ts"),
  },
  {
    usage: "features",
    summary: "List the features of this build, and how to get the others",
    options: [["--all", "Also those that are not in this build"], JSON_OPTION],
    examples: ["svc features", "svc features --all"],
    load: () => import("../../commands/features.ts"),
  },
];
