/** What comes in and goes out by the channels. */
import type { CommandEntry } from "../command.ts";
import { CONFIG_OPTION, JSON_OPTION, YES_OPTION } from "./options.ts";

export const messages: readonly CommandEntry[] = [
  {
    usage: "channels <action>",
    summary: "list, add, test, set up, link or verify the channels",
    options: [
      ["--emoji", "verify: compare emoji, without a QR code"],
      ["--set <key=value>...", "add: a key of the channel's section; may be repeated"],
      [
        "--secret-file <key=file>...",
        "add: a secret of the section from a file, - for standard input; may be repeated",
      ],
      YES_OPTION,
      CONFIG_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "svc channels list",
      "svc channels add email",
      "svc channels test provider_a",
      "svc channels setup mailpush",
      "svc channels link provider-a-web",
    ],
    actions: ["list", "add <name>", "test <name>", "setup <name>", "link <name>", "verify <name>"],
    load: () => import("../../commands/channels.ts"),
  },
  {
    usage: "send <channel> <conversation> <text>",
    summary: "Send a message to a person or chat on a channel",
    options: [
      ["--thread <id>", "Thread in the conversation, where the platform has threads"],
      ["--file <path>...", "File of the agent's workspace to send along; may be repeated"],
      ["--wait", "Wait until the platform accepts or refuses it, at most two minutes"],
      CONFIG_OPTION,
      JSON_OPTION,
    ],
    examples: [
      'svc send provider_a +15551234567 "The backup is done."',
      "svc send provider_d room1 - --wait < report.txt",
      'svc send provider_a +15551234567 "The chart of June" --file charts/june.png',
    ],
    load: () => import("../../commands/send.ts"),
  },
  {
    usage: "inbox <action>",
    summary: "list, show, replay or drop incoming and outgoing messages",
    options: [
      ["--box <box>", "in or out (default: both)"],
      ["--channel <name>", "Only messages of this channel"],
      [
        "--state <state>",
        "waiting, done, failed or dropped; outgoing: waiting, sent, dead or dropped; replay: failed or dead",
      ],
      ["--limit <count>", "Most messages listed (50)"],
      YES_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "svc inbox list --state failed",
      "svc inbox show in-12",
      "svc inbox replay out-7",
      "svc inbox replay --state failed --channel provider_a",
      "svc inbox replay --state dead --yes",
      "svc inbox drop in-12",
    ],
    actions: ["list", "show <id>", "replay [id]", "drop <id>"],
    load: () => import("../../commands/inbox.ts"),
  },
  {
    usage: "webhook <action>",
    summary: "send a delivery to a channel as its platform would, signed from the config",
    options: [
      ["--text <text>", "What the message says"],
      ["--from <sender>", "Sender of the message. Default: a sender that the allowlist allows"],
      ["--url <url>", "URL of the service, such as https://agent.example.org (default: the daemon of this home)"],
      CONFIG_OPTION,
      JSON_OPTION,
    ],
    examples: [
      "svc webhook send provider_a --text hello",
      "svc webhook send provider_d --text hello --from alice --url https://agent.example.org",
    ],
    actions: ["send <channel>"],
    load: () => import("../../commands/webhook.ts"),
  },
];
