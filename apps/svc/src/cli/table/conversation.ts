/** Talking to the agent. */
import type { CommandEntry } from "../command.ts";
import { CONFIG_OPTION, JSON_OPTION } from "./options.ts";

export const conversation: readonly CommandEntry[] = [
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
    load: () => import("../../commands/chat.ts"),
  },
];
