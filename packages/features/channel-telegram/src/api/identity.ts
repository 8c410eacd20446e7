/** Who the bot is there. Its id is a part of the token; its name is asked for, and remembered over restarts. */
import { type FeatureContext, type Json, SvcError } from "@svc/contract";
import { parseJson } from "@svc/kit";
import type { Config } from "../config.ts";
import { type Fields, fieldsOf, wordOf } from "../fields.ts";
import type { BotApi } from "./bot-api.ts";

export interface Identity {
  /** Undefined: the token is none of the platform's. */
  readonly id: number | undefined;
  /** Without the @. Undefined until it was asked for once. */
  readonly username: string | undefined;
  /** What the last process knew. A state that can't be read is no error: the name is asked for anyway. */
  recall(): Promise<void>;
  /** What the platform says of the bot. Throws as `BotApi.call`, and REMOTE_UNREACHABLE for an answer that can't be read. */
  ask(signal: AbortSignal): Promise<Fields & { readonly username: string }>;
}

const NAME = "bot";

export function createIdentity(
  api: BotApi,
  { config, state }: Pick<FeatureContext<Config>, "config" | "state">,
): Identity {
  const id = /^([1-9]\d{0,15}):/.exec(config.bot_token)?.[1];
  let username: string | undefined;
  return {
    id: id === undefined ? undefined : Number(id),
    get username() {
      return username;
    },
    async recall() {
      const kept = await state.get(NAME).catch(() => undefined);
      const known = fieldsOf(kept === undefined ? undefined : parseJson(Buffer.from(kept)));
      // Another token is another bot.
      if (known["id"] === id) username ??= wordOf(known["username"]);
    },
    async ask(signal) {
      const me = fieldsOf(await api.call((raw, s) => raw.getMe(s), signal));
      const name = wordOf(me["username"]);
      if (name === undefined || !/^\w+$/.test(name)) {
        throw new SvcError("REMOTE_UNREACHABLE", "The platform's answer can't be read.", {
          hint: "Check the channel's api_url.",
        });
      }
      if (name !== username)
        await state.set(NAME, JSON.stringify({ id, username: name } as Json)).catch(() => undefined);
      username = name;
      return { ...me, username: name };
    },
  };
}
