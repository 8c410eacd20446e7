/** `svc channels setup`: how updates come, and the menu of commands. https://core.telegram.org/bots/api#setwebhook */
import { type Channel, SvcError } from "@svc/contract";
import { asCheckFailure } from "@svc/kit";
import type { BotApi } from "./api/bot-api.ts";
import type { Config } from "./config.ts";
import { fieldsOf, textOf } from "./fields.ts";
import { COMMANDS, UPDATE_KINDS } from "./names.ts";

type Mode = Pick<Config, "mode" | "webhook_secret">;

export function setupOf(api: BotApi, config: Mode): NonNullable<Channel["setup"]> {
  return async ({ url }, signal) => {
    signal.throwIfAborted();
    if (config.mode === "webhook") demandReachable(url);
    try {
      const way = config.mode === "webhook" ? await setWebhook(api, config, url, signal) : await poll(api, signal);
      await api.call((raw, s) => raw.setMyCommands({ commands: COMMANDS }, s), signal);
      const names = COMMANDS.map(({ command }) => `/${command}`).join(" ");
      return `${way} The menu of commands is set: ${names}.`;
    } catch (error) {
      signal.throwIfAborted();
      return asCheckFailure(error);
    }
  };
}

/** Messages that wait are kept: they are delivered now. */
async function setWebhook(api: BotApi, { webhook_secret: secret }: Mode, url: string, signal: AbortSignal) {
  await api.call(
    (raw, s) =>
      raw.setWebhook(
        {
          url,
          allowed_updates: UPDATE_KINDS,
          drop_pending_updates: false,
          ...(secret !== undefined && { secret_token: secret }),
        },
        s,
      ),
    signal,
  );
  return "The platform posts messages to svc from now on.";
}

async function poll(api: BotApi, signal: AbortSignal): Promise<string> {
  const info = fieldsOf(await api.call((raw, s) => raw.getWebhookInfo(s), signal));
  if (textOf(info["url"]) === undefined) return "svc asks the platform for messages; no webhook stands in the way.";
  await api.call((raw, s) => raw.deleteWebhook({ drop_pending_updates: false }, s), signal);
  return "The webhook that stood in the way is gone; svc asks the platform for messages.";
}

const PORTS: ReadonlySet<string> = new Set(["", "80", "88", "8443"]);

/** Throws CHANNEL_CANNOT for an address that the platform would not take. */
function demandReachable(url: string): void {
  if (!URL.canParse(url)) {
    throw new SvcError("CHANNEL_CANNOT", "The platform needs an address to post to.", {
      hint: 'Set gateway.public_url to the https address of this service, or mode = "polling".',
    });
  }
  const { protocol, port } = new URL(url);
  if (protocol === "https:" && PORTS.has(port)) return;
  throw new SvcError("CHANNEL_CANNOT", "The platform posts only to https, on port 443, 80, 88 or 8443.", {
    hint: 'Change gateway.public_url, or set mode = "polling".',
  });
}
