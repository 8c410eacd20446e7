/** Every command of `svc`, in the order of the help. */
import type { CommandEntry } from "./command.ts";

const JSON_OPTION = ["--json", "Print JSON"] as const;
const CONFIG_OPTION = ["--config <file>", "Use this file instead of config.toml in the home"] as const;

export const COMMANDS: readonly CommandEntry[] = [
  {
    usage: "init",
    summary: "Write a working config into the home folder",
    options: [["--yes", "Take the defaults and ask nothing"]],
    examples: ["svc init --yes"],
    load: () => import("../commands/init.ts"),
  },
  {
    usage: "daemon",
    summary: "Run the service in the foreground",
    options: [CONFIG_OPTION],
    examples: ["svc daemon", "SVC__GATEWAY__PORT=8080 svc daemon"],
    load: () => import("../commands/daemon.ts"),
  },
  {
    usage: "chat",
    summary: "Talk to the agent at the terminal",
    options: [
      ["-m, --message <text>", "Send one message, print the answer, end"],
      ["--session <name>", "Continue this conversation (default: terminal)"],
      ["--new", "Start a new conversation"],
      JSON_OPTION,
      CONFIG_OPTION,
    ],
    examples: ["svc chat", 'svc chat -m "What is in my workspace?"', "svc chat --session project-x"],
    load: () => import("../commands/chat.ts"),
  },
  {
    usage: "pair",
    summary: "Make a pairing code for a new device",
    options: [
      ["--scope <scope>", "operator (default), webhook or read"],
      ["--name <name>", "Name of the device"],
      JSON_OPTION,
    ],
    examples: ["svc pair", "svc pair --scope webhook --name ci"],
    load: () => import("../commands/pair.ts"),
  },
  {
    usage: "status",
    summary: "Show the daemon, its address, model, sandbox and features",
    options: [JSON_OPTION],
    examples: ["svc status", "svc status --json"],
    load: () => import("../commands/status.ts"),
  },
  {
    usage: "features",
    summary: "List the features of this build, and how to get the others",
    options: [["--all", "Also those that are not in this build"], JSON_OPTION],
    examples: ["svc features", "svc features --all"],
    load: () => import("../commands/features.ts"),
  },
  {
    usage: "config <action>",
    summary: "check, show or schema: validate the config, print what is in force, print its JSON Schema",
    options: [JSON_OPTION, CONFIG_OPTION],
    examples: ["svc config check", "svc config show", "svc config schema > config.schema.json"],
    actions: ["check", "show", "schema"],
    load: () => import("../commands/config.ts"),
  },
  {
    usage: "tools <action> [name]",
    summary: "list the agent's tools, or run one under its policy and sandbox",
    options: [["--input <json>", "Input of the tool (default: {})"], JSON_OPTION, CONFIG_OPTION],
    examples: ["svc tools list", `svc tools run file_read --input '{"path":"notes.txt"}'`],
    actions: ["list", "run"],
    load: () => import("../commands/tools.ts"),
  },
  {
    usage: "completions <shell>",
    summary: "Print a completion script for bash, zsh or fish",
    options: [],
    examples: ["source <(svc completions bash)", "svc completions fish > ~/.config/fish/completions/svc.fish"],
    actions: ["bash", "zsh", "fish"],
    load: () => import("../commands/completions.ts"),
  },
];
