/**
 * What the platform answers: always JSON with `ok`, and an error's number once more in the status.
 * https://core.telegram.org/bots/api#making-requests
 */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";

export interface TelegramFailure {
  readonly code: number;
  /** As the platform says it, e.g. `Bad Request: chat not found`. */
  readonly description: string;
  /** https://core.telegram.org/bots/api#responseparameters */
  readonly parameters?: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };
}

/** Thrown by whatever handles a method. */
export class TelegramError extends Error {
  readonly failure: TelegramFailure;

  constructor(failure: TelegramFailure) {
    super(failure.description);
    this.failure = failure;
  }
}

export const badRequest = (description: string, parameters?: TelegramFailure["parameters"]): TelegramError =>
  new TelegramError({ code: 400, description: `Bad Request: ${description}`, ...(parameters && { parameters }) });

export const succeeded = (result: Json): PlatformReply => ({ json: { ok: true, result } });

export const failed = ({ code, description, parameters }: TelegramFailure): PlatformReply => ({
  status: code,
  ...(parameters?.retry_after !== undefined && { headers: { "retry-after": String(parameters.retry_after) } }),
  json: { ok: false, error_code: code, description, ...(parameters && { parameters: { ...parameters } }) },
});
