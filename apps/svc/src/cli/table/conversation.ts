/** Talking to the agent, and trying its model. */
import type { CommandEntry } from "../command.ts";
import { CONFIG_OPTION, JSON_OPTION } from "./options.ts";

export const conversation: readonly CommandEntry[] = [
  {
    usage: "chat",
    summary: "Talk to the agent at the terminal",
    options: [
      ["-m, --message <text>", "Send one message, print the answer and exit"],
      ["--session <name>", "Continue this conversation (default: terminal)"],
      ["--new", "Start a new conversation"],
      ["--attach <path>...", "File to attach to the message; may be repeated"],
      ["--agent <name>", "Talk to this agent of the config (default: default)"],
      JSON_OPTION,
      CONFIG_OPTION,
    ],
    examples: [
      "svc chat",
      'svc chat -m "What is in my workspace?"',
      "svc chat --session project-x",
      'svc chat -m "What is in this picture?" --attach photo.png',
      'svc chat -m "/retry"',
      'svc chat -m "/continue"',
      "svc chat --agent writer",
    ],
    load: () => import("../../commands/chat.ts"),
  },
  {
    usage: "model <action>",
    summary: "test the model: does it answer, how fast, at what cost",
    options: [["--agent <name>", "The model of this agent of the config"], JSON_OPTION, CONFIG_OPTION],
    examples: ["svc model test", "svc model test --agent writer --json"],
    actions: ["test"],
    load: () => import("../../commands/model.ts"),
  },
];
