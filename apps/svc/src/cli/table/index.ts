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

export const COMMANDS: readonly CommandEntry[] = [
  ...running,
  ...conversation,
  ...people,
  ...messages,
  ...governing,
  ...settings,
  ...data,
  ...shell,
];
