/** Setting the service up, running it, looking at how it is. */
import type { CommandEntry } from "../command.ts";
import { CONFIG_OPTION, JSON_OPTION } from "./options.ts";

export const running: readonly CommandEntry[] = [
  {
    usage: "init",
    summary: "Set up the home folder: model, channel, address, sandbox, service",
    options: [["--yes", "Take the defaults and ask nothing"]],
    examples: ["svc init", "svc init --yes"],
    load: () => import("../../commands/init.ts"),
  },
  {
    usage: "daemon",
    summary: "Run the service in the foreground",
    options: [CONFIG_OPTION],
    examples: ["svc daemon", "SVC__GATEWAY__PORT=8080 svc daemon"],
    load: () => import("../../commands/daemon.ts"),
  },
  {
    usage: "status",
    summary: "Show the daemon, its address, model, sandbox and features",
    options: [JSON_OPTION],
    examples: ["svc status", "svc status --json"],
    load: () => import("../../commands/status.ts"),
  },
  {
    usage: "reload",
    summary: "Let the running daemon take up the changed config",
    options: [JSON_OPTION],
    examples: ["svc reload"],
    load: () => import("../../commands/reload.ts"),
  },
  {
    usage: "logs",
    summary: "Show the log of the service, with or without a daemon",
    options: [
      ["-f, --follow", "Go on as it grows, until Ctrl-C"],
      ["-n, --lines <count>", "Most lines of what is there (default: 100; all with --since)"],
      ["--level <level>", "Lines at least this severe: debug, info, warn or error"],
      ["--since <time>", "Lines since then: 90s, 10m, 2h, 7d, or a date and time"],
      ["--json", "Print each line as JSON"],
    ],
    examples: ["svc logs", "svc logs -f --level warn", "svc logs --since 10m --json"],
    load: () => import("../../commands/logs.ts"),
  },
  {
    usage: "doctor",
    summary: "Look for what is wrong and say what mends it; exit 1 on errors",
    options: [["--security", "Also what opens the service further than it has to be"], JSON_OPTION, CONFIG_OPTION],
    examples: ["svc doctor", "svc doctor --security", "svc doctor --json"],
    load: () => import("../../commands/doctor.ts"),
  },
  {
    usage: "service <action>",
    summary: "install, status or uninstall: let the system keep the daemon running (systemd, launchd)",
    options: [
      ["--system", "For the whole machine, not for this user; needs root"],
      ["--user-name <user>", "With --system: who it runs as (default: who called sudo)"],
      ["--print", "Print the service file and change nothing"],
      ["--force", "Also when the file was changed by hand"],
      JSON_OPTION,
    ],
    examples: [
      "svc service install",
      "sudo svc service install --system",
      "svc service install --print",
      "svc service status",
      "svc service uninstall",
    ],
    actions: ["install", "status", "uninstall"],
    load: () => import("../../commands/service.ts"),
  },
];
