/** Every command of `svc`, in the order of the help. Data only: the command's code is loaded when it runs. */
import type { CommandEntry } from "../command.ts";
import { conversation } from "./conversation.ts";
import { data } from "./data.ts";
import { governing } from "./governing.ts";
import { messages } from "./messages.ts";
import { people } from "./people.ts";
import { running } from "./running.ts";
import { settings } from "./settings.ts";
import { shell } from "./shell.ts";

/** As `svc --help` shows them. */
export const GROUPS: readonly { readonly title: string; readonly commands: readonly CommandEntry[] }[] = [
  { title: "Run the service", commands: running },
  { title: "Talk to the agent", commands: conversation },
  { title: "Devices and conversations", commands: people },
  { title: "Channels and messages", commands: messages },
  { title: "Procedures and approvals", commands: governing },
  { title: "Settings, tools and features", commands: settings },
  { title: "Data", commands: data },
  { title: "Shell", commands: shell },
];

export const COMMANDS: readonly CommandEntry[] = GROUPS.flatMap(({ commands }) => commands);
