/** What somebody says to the service instead of to the model. `/stop` is none of these: it does not wait for its turn. */

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
