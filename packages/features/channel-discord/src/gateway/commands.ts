/**
 * The menu of commands. What they do is decided elsewhere: a command comes in as the text that somebody could have written.
 * https://docs.discord.com/developers/interactions/application-commands#bulk-overwrite-global-application-commands
 */
import type { Json, StateStore } from "@svc/contract";
import { type Fields, fieldsOf, listOf } from "../api/fields.ts";
import type { Rest } from "../api/rest.ts";

/** Registers them where that is turned on and they are not there yet; takes them off again where it was turned off. */
export async function keepCommands(
  rest: Rest,
  applicationId: string,
  isOn: boolean,
  state: StateStore,
  signal: AbortSignal,
): Promise<void> {
  const path = `applications/${applicationId}/commands`;
  const isOurs = (await state.get(REGISTERED)) === applicationId;
  if (!isOn) {
    if (!isOurs) return;
    await rest.call({ method: "PUT", path, json: [] }, signal);
    await state.delete(REGISTERED);
    return;
  }
  const there = listOf(await rest.call({ path }, signal)).map(fieldsOf);
  if (!isSame(there)) await rest.call({ method: "PUT", path, json: COMMANDS as unknown as Json }, signal);
  if (!isOurs) await state.set(REGISTERED, applicationId);
}

/** Commands of another program at the same bot are not ours to take off. */
const REGISTERED = "commands";

const CHAT_INPUT = 1;
const STRING = 3;

const COMMANDS = [
  { type: CHAT_INPUT, name: "new", description: "Begin a new conversation" },
  {
    type: CHAT_INPUT,
    name: "model",
    description: "Show the model that answers, or choose another",
    options: [{ type: STRING, name: "name", description: "Name of the model", required: false }],
  },
  { type: CHAT_INPUT, name: "status", description: "Show the state of this conversation" },
  { type: CHAT_INPUT, name: "stop", description: "Stop the answer that is being made" },
  { type: CHAT_INPUT, name: "help", description: "Show what can be said here" },
] as const;

/** The platform adds ids, versions and what else it has a standard for. */
const isSame = (there: readonly Fields[]): boolean =>
  there.length === COMMANDS.length &&
  COMMANDS.every((command) => {
    const one = there.find(({ name, type }) => name === command.name && (type ?? CHAT_INPUT) === CHAT_INPUT);
    const options = "options" in command ? command.options : [];
    const others = listOf(one?.["options"]).map(fieldsOf);
    return (
      one?.["description"] === command.description &&
      others.length === options.length &&
      options.every(({ type, name, description }, at) => {
        const other = others[at]!;
        return other["type"] === type && other["name"] === name && other["description"] === description;
      })
    );
  });
