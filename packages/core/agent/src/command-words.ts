/** Commands as people type them, and what they are answered. No ids and nothing of what was said: many people may read it. */
import type { SessionUsage } from "@svc/store";

/** What a person says to the service instead of to the model. `/stop` is none of these: it does not wait for its turn. */
export type Command =
  | { readonly name: "new" | "status" | "help" | "start" }
  /** Without a choice: which there are. */
  | { readonly name: "model"; readonly choice?: string };

/** Model names are shorter. */
const LONGEST = 300;

/** Exactly a command, or a message like any other. */
export function commandOf(text: string): Command | undefined {
  if (text.length > LONGEST || !text.includes("/")) return undefined;
  const said = text.trim();
  switch (said.toLowerCase()) {
    case "/new":
    case "/reset":
      return { name: "new" };
    case "/status":
      return { name: "status" };
    case "/help":
      return { name: "help" };
    case "/start":
      return { name: "start" };
    case "/model":
      return { name: "model" };
    default: {
      const choice = /^\/model[^\S\n]+(\S.*)$/i.exec(said)?.[1];
      return choice === undefined ? undefined : { name: "model", choice };
    }
  }
}

/** `/stop` does not queue up behind the turn that it is to stop, and no model sees it. */
export const isStopCommand = (text: string): boolean => text.length < 100 && text.trim().toLowerCase() === "/stop";

export const BEGUN_ANEW = "A new conversation begins.";

export interface CommandHelp {
  /** As it is typed, with what may follow it. */
  readonly usage: string;
  readonly summary: string;
}

/** What a person can type, on every channel and the page. */
export const COMMAND_HELP: readonly CommandHelp[] = [
  { usage: "/new", summary: "begin a new conversation" },
  { usage: "/model", summary: "which model answers here, and which there are" },
  { usage: "/model <name>", summary: "another one from now on; /model default goes back" },
  { usage: "/status", summary: "what answers here, what waits, what was used" },
  { usage: "/stop", summary: "stop what runs here" },
  { usage: "/help", summary: "this list" },
];

export const HELP = COMMAND_HELP.map(({ usage, summary }) => `${usage} - ${summary}`).join("\n");

export const GREETING = `Hello. Write a message, and it is answered. There are commands too:\n${HELP}`;

/** `names`: of all that can be chosen, the standing one first. */
export function modelWords(current: string, names: readonly string[]): string {
  if (names.length < 2) return `${current} answers here. No others are configured.`;
  const choices = `There are: ${names.join(", ")}.`;
  return `${current} answers here. ${choices}\n/model <name> takes another one for this conversation; /model default goes back.`;
}

export const modelTaken = (name: string): string => `From the next message on, ${name} answers here.`;

export const modelRefused = (names: readonly string[]): string =>
  names.length < 2 ? "There is nothing to choose: no other models are configured." : refusedOf(names);

const refusedOf = (names: readonly string[]): string =>
  `No model of this name can be chosen here. There are: ${names.join(", ")}.`;

export interface Status {
  readonly agent: string;
  readonly model: string;
  /** Messages behind this one. */
  readonly waiting: number;
  /** Undefined: nothing was answered yet. */
  readonly used: SessionUsage | undefined;
  /** Most turns that were looked at. */
  readonly usedLimit: number;
  readonly today: Spent | undefined;
  /** By the person who asks. */
  readonly byYou: Spent | undefined;
}

export interface Spent {
  readonly spentUsd: number;
  readonly limitUsd: number;
}

export function statusWords({ agent, model, waiting, used, usedLimit, today, byYou }: Status): string {
  const waits = waiting === 1 ? "1 message waits here." : `${waiting} messages wait here.`;
  return [
    `Agent: ${agent}`,
    `Model: ${model}`,
    waiting === 0 ? "Nothing else runs or waits here." : waits,
    used ? usedWords(used, usedLimit) : "This conversation: nothing was answered yet.",
    ...(today ? [`Today: ${dollars(today.spentUsd)} of ${dollars(today.limitUsd)}.`] : []),
    ...(byYou ? [`Today by you: ${dollars(byYou.spentUsd)} of ${dollars(byYou.limitUsd)}.`] : []),
  ].join("\n");
}

function usedWords({ turns, inputTokens, outputTokens, costUsd }: SessionUsage, limit: number): string {
  const what =
    turns === limit ? `The last ${turns} answers` : `This conversation: ${turns} ${turns === 1 ? "answer" : "answers"}`;
  const cost = costUsd === undefined ? "" : `, ${dollars(costUsd)}`;
  return `${what}, ${inputTokens} tokens in, ${outputTokens} out${cost}.`;
}

const dollars = (usd: number): string => `$${usd.toFixed(4)}`;
