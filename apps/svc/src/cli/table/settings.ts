/** The config, its secrets, and what the build can do. */
import type { CommandEntry } from "../command.ts";
import { CONFIG_OPTION, JSON_OPTION, YES_OPTION } from "./options.ts";

export const settings: readonly CommandEntry[] = [
  {
    usage: "config <action>",
    summary: "Look at the config, check it, change a key of it",
    options: [JSON_OPTION, CONFIG_OPTION],
    examples: [
      "svc config check",
      "svc config show",
      "svc config get gateway.port",
      "svc config set agent.max_steps 40",
      "svc config schema > config.schema.json",
    ],
    actions: ["check", "show", "get <key>", "set <key> <value>", "path", "schema"],
    load: () => import("../../commands/config.ts"),
  },
  {
    usage: "secrets <action>",
    summary: "set, encrypt, rotate or list the secrets of the config; never shown, never typed as an argument",
    options: [JSON_OPTION, CONFIG_OPTION],
    examples: [
      "svc secrets list",
      "svc secrets set model.api_key",
      "svc secrets set model.api_key < key.txt",
      "svc secrets encrypt",
      "svc secrets rotate",
    ],
    actions: ["set <key>", "encrypt", "rotate", "list"],
    load: () => import("../../commands/secrets.ts"),
  },
  {
    usage: "tools <action>",
    summary: "list the agent's tools, or run one under its policy and sandbox",
    options: [
      ["--input <json>", "Input of the tool (default: {})"],
      ["--agent <name>", "Run it as this agent of the config"],
      JSON_OPTION,
      CONFIG_OPTION,
    ],
    examples: ["svc tools list", `svc tools run file_read --input '{"path":"notes.txt"}'`],
    actions: ["list", "run <name>"],
    load: () => import("../../commands/tools.ts"),
  },
  {
    usage: "plugin <action>",
    summary: "list, install or remove WASM plugins: tools from elsewhere that reach only what you allow",
    options: [
      ["--sha256 <hash>", "SHA-256 of the wasm file that may be installed; needed where nobody can be asked"],
      ["--allow-host <host>...", "A host that the plugin may reach, each that it wants; may be repeated"],
      YES_OPTION,
      JSON_OPTION,
      CONFIG_OPTION,
    ],
    examples: [
      "svc plugin list",
      "svc plugin install ./my-plugin",
      "svc plugin install https://plugins.example.org/weather.tgz --sha256 9f86d0… --allow-host api.example.org",
      "svc plugin info weather",
      "svc plugin remove weather --yes",
    ],
    actions: ["list", "install <source>", "remove <name>", "info <name>"],
    load: async () => (await import("../../commands/feature-command.ts")).featureCommand("plugin"),
  },
  {
    usage: "hardware <action>",
    summary: "Find connected boards, and ask one what it can do",
    options: [
      ["--chip <chip>", "Of info: name of the chip or its board; default: what the chip says"],
      JSON_OPTION,
      CONFIG_OPTION,
    ],
    examples: [
      "svc hardware discover",
      "svc hardware introspect pico0",
      "svc hardware introspect /dev/ttyACM0",
      "svc hardware info --chip STM32F401RE",
    ],
    actions: ["discover", "introspect <path>", "info"],
    load: async () => (await import("../../commands/feature-command.ts")).featureCommand("hardware"),
  },
  {
    usage: "peripheral <action>",
    summary: "Add a board to the config, list boards, or flash a Pico",
    options: [
      ["--baud <rate>", "Baud rate of the serial port, where it differs from what the board's protocol uses"],
      YES_OPTION,
      JSON_OPTION,
      CONFIG_OPTION,
    ],
    examples: [
      "svc peripheral add raspberry-pi-pico /dev/ttyACM0",
      "svc peripheral add my-robot tcp://127.0.0.1:9999",
      "svc peripheral add raspberry-pi native",
      "svc peripheral list",
      "svc peripheral flash pico0 firmware.uf2 --yes",
    ],
    actions: ["add <board> <path>", "list", "flash <alias> [firmware]"],
    load: async () => (await import("../../commands/feature-command.ts")).featureCommand("peripheral"),
  },
  {
    usage: "safety <action>",
    summary: "Show the robot's safety state, stop it, or reset its emergency stop",
    options: [["--latch", "Of stop: nothing moves before a reset"], YES_OPTION, JSON_OPTION, CONFIG_OPTION],
    examples: ["svc safety status", "svc safety stop --latch", "svc safety reset --yes"],
    actions: ["status", "stop", "reset"],
    load: async () => (await import("../../commands/feature-command.ts")).featureCommand("safety"),
  },
  {
    usage: "features",
    summary: "List the features of this build, and how to get the others",
    options: [["--all", "Also those that are not in this build"], JSON_OPTION],
    examples: ["svc features", "svc features --all"],
    load: () => import("../../commands/features.ts"),
  },
];
