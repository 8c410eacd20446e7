/** Commands as the platform writes them: `/new@svc_bot`. https://core.telegram.org/bots/features#commands */
import { COMMANDS } from "../names.ts";
import type { Me } from "./entities.ts";

export interface Command {
  /** As the core knows it, with what follows it. */
  readonly text: string;
  /** `ours`: it names us, or nobody but is on our menu. `others`: it names another bot. `anybody`: it may be anyone's. */
  readonly addressee: "ours" | "others" | "anybody";
}

/** Undefined for what is no command. */
export function commandOf(text: string, { username }: Me): Command | undefined {
  const [whole, given = "", to] = /^\s*\/(\w{1,32})(?:@(\w{1,64}))?(?=\s|$)/.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const name = given.toLowerCase();
  const rest = text.slice(whole.length);
  const isOurs = to === undefined ? NAMES.has(name) : to.toLowerCase() === username?.toLowerCase();
  // What the platform sends when somebody opens the bot for the first time, with whatever the link said.
  const normalised = name === "start" ? "/help" : `/${NAMES.has(name) ? name : given}${rest}`;
  return { text: normalised, addressee: isOurs ? "ours" : to === undefined ? "anybody" : "others" };
}

const NAMES: ReadonlySet<string> = new Set(COMMANDS.map(({ command }) => command));
