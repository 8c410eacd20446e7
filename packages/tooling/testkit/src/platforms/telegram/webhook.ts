/** Deliveries to a URL of the bot's: one after the other, each again until it is answered 2xx. */
import type { Json } from "@svc/contract";
import { badRequest } from "./answer.ts";
import type { Parameters, ParameterSpec } from "./parameters.ts";
import type { Polls, Update } from "./polls.ts";

export const SET_WEBHOOK: ParameterSpec = {
  url: "text!",
  ip_address: "text",
  max_connections: "integer",
  allowed_updates: "list",
  drop_pending_updates: "boolean",
  secret_token: "text",
};
export const DELETE_WEBHOOK: ParameterSpec = { drop_pending_updates: "boolean" };

export interface WebhookOptions {
  /** Where a URL of the internet is on loopback. Default: there. */
  readonly target?: (url: string) => string;
  /** How often one is posted before it is left for later. Default: 5. */
  readonly attempts?: number;
  /** Waits before the next attempt. Default: not at all. */
  readonly pause?: () => Promise<void>;
  /** Does what the answer to a delivery asks for. */
  readonly carryOut: (call: Readonly<Record<string, Json>>) => void;
}

export interface Webhook {
  /** Undefined: none is set. */
  readonly url: string | undefined;
  readonly secretToken: string | undefined;
  /** Statuses of all deliveries; 0 where no answer came. */
  readonly statuses: readonly number[];
  set(values: Parameters["values"]): void;
  remove(): void;
  info(): Json;
  /** Posts what waits. Resolves once all of it was taken, or is left for later. */
  deliver(): Promise<void>;
}

/** Ports that it posts to. */
const PORTS: ReadonlySet<string> = new Set(["", "443", "80", "88", "8443"]);

export function createWebhook(polls: Polls, options: WebhookOptions): Webhook {
  const { target = (url) => url, attempts = 5, pause, carryOut } = options;
  const statuses: number[] = [];
  let current: { readonly url: string; readonly secretToken: string | undefined } | undefined;
  let failedAtSecs: number | undefined;
  let delivering: Promise<void> | undefined;

  const post = async (update: Update): Promise<boolean> => {
    if (current === undefined) return false;
    const { url, secretToken } = current;
    const headers = {
      "content-type": "application/json",
      ...(secretToken !== undefined && { "x-telegram-bot-api-secret-token": secretToken }),
    };
    const response = await fetch(target(url), {
      method: "POST",
      headers,
      body: JSON.stringify(update),
      redirect: "manual",
    }).catch(() => undefined);
    statuses.push(response?.status ?? 0);
    if (!response?.ok) return false;
    const answer = (await response.json().catch(() => undefined)) as Record<string, Json> | undefined;
    if (typeof answer?.["method"] === "string") carryOut(answer);
    return true;
  };
  const deliverAll = async (): Promise<void> => {
    for (let update = polls.waiting[0]; update; update = polls.waiting[0]) {
      let isTaken = await post(update);
      for (let attempt = 1; !isTaken && attempt < attempts; attempt += 1) {
        await pause?.();
        isTaken = await post(update);
      }
      if (!isTaken) {
        failedAtSecs = Math.floor(Date.now() / 1000);
        return;
      }
      polls.confirm(update.update_id);
    }
  };

  return {
    statuses,
    get url() {
      return current?.url;
    },
    get secretToken() {
      return current?.secretToken;
    },
    set(values) {
      const url = values["url"] as string;
      if (url === "") {
        current = undefined;
        return;
      }
      if (!URL.canParse(url) || new URL(url).protocol !== "https:") {
        throw badRequest("bad webhook: An HTTPS URL must be provided for webhook");
      }
      if (!PORTS.has(new URL(url).port)) {
        throw badRequest("bad webhook: Webhook can be set up only on ports 80, 88, 443 or 8443");
      }
      const token = values["secret_token"] as string | undefined;
      if (token !== undefined && !/^[\w-]{1,256}$/.test(token)) {
        throw badRequest("secret token contains unallowed characters");
      }
      current = { url, secretToken: token };
      failedAtSecs = undefined;
    },
    remove() {
      current = undefined;
    },
    info: () => ({
      url: current?.url ?? "",
      has_custom_certificate: false,
      pending_update_count: polls.waiting.length,
      ...(failedAtSecs !== undefined && {
        last_error_date: failedAtSecs,
        last_error_message: "Wrong response from the webhook: 503 Service Unavailable",
      }),
    }),
    deliver() {
      delivering ??= deliverAll().finally(() => (delivering = undefined));
      return delivering;
    },
  };
}
