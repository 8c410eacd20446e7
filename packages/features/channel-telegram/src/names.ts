/** The channel's id: the last part of the section's name. */
export const CHANNEL = "telegram";

/** What we want to be told of; anything else the platform keeps to itself. https://core.telegram.org/bots/api#update */
export const UPDATE_KINDS = ["message", "callback_query", "message_reaction"] as const;

/** Our commands, as the menu of the platform shows them. The core answers them. */
export const COMMANDS: readonly { readonly command: string; readonly description: string }[] = Object.freeze([
  { command: "new", description: "Begin a new conversation" },
  { command: "model", description: "Show the model, or choose another one" },
  { command: "status", description: "Show how things are" },
  { command: "stop", description: "Stop what is running" },
  { command: "help", description: "Show what can be done here" },
]);
