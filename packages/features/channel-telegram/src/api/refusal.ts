/** What the platform answers instead of doing what it was asked, as an error. https://core.telegram.org/bots/api#making-requests */
import type { Json, SvcError } from "@svc/contract";
import { fieldsOf, idOf, numberOf } from "../fields.ts";
import { problemOf } from "./problems.ts";
import { BadFile, BadFormatting, Migrated, NotModified } from "./special-refusals.ts";

/** As grammY hands it on, unchecked. */
export interface PlatformRefusal {
  readonly error_code: unknown;
  readonly description: unknown;
  readonly parameters: unknown;
}

export function refusalOf(refusal: PlatformRefusal): SvcError {
  const code = typeof refusal.error_code === "number" ? refusal.error_code : 500;
  const description = typeof refusal.description === "string" ? refusal.description : "";
  const { retry_after: waitSecs, migrate_to_chat_id: to } = fieldsOf(refusal.parameters as Json);
  const toChatId = idOf(to);
  if (toChatId !== undefined) return new Migrated(toChatId);
  if (code === 400 && /can't parse entities/i.test(description)) return new BadFormatting();
  if (code === 400 && /message is not modified/i.test(description)) return new NotModified();
  if (code === 400 && /PHOTO_|IMAGE_PROCESS|STICKER_|wrong (?:file )?type|can't use file of type/i.test(description)) {
    return new BadFile();
  }
  const secs = numberOf(waitSecs);
  return problemOf({ code, description, retryAfterMs: secs === undefined ? undefined : Math.max(0, secs) * 1000 });
}
