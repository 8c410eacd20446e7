/** What is said of deliveries that are not taken: to the platform by the code, to the operator now and then in the log. */
import { type ErrorCode, type Logger, SvcError, type Verdict } from "@svc/contract";
import type { RegisteredIngress } from "@svc/kernel";
import { errorReply, type Reply, replyToError } from "../http/reply.ts";
import type { RareLines } from "../rare-lines.ts";

export const CHANNEL_DOWN = errorReply("CHANNEL_DOWN", { retryAfterMs: 60_000 });
/** The wording that platforms of bearer tokens are used to. */
const UNAUTHORIZED = errorReply("UNAUTHORIZED", { message: "Unauthorized" });

/** What `parse` may throw. */
const OF_PARSING: ReadonlySet<ErrorCode> = new Set(["BAD_JSON", "BAD_REQUEST"]);

export class Refusals {
  readonly #fields: { readonly channel: string; readonly path: string };
  readonly #lines: RareLines;
  readonly #log: Logger;

  /** `lines`: of all paths; they outlive a reload. */
  constructor({ channel, ingress }: RegisteredIngress, lines: RareLines, log: Logger) {
    this.#fields = { channel, path: ingress.path };
    this.#lines = lines;
    this.#log = log;
  }

  /** It is not proven who sent it. */
  forged({ code, why }: Extract<Verdict, { ok: false }>): Reply {
    this.#warn("deliveries were refused: nothing proves who sent them", { code, why });
    return code === "UNAUTHORIZED" ? UNAUTHORIZED : errorReply(code);
  }

  replayed(): Reply {
    return this.forged({ ok: false, code: "BAD_SIGNATURE", why: "what may be used once was used before" });
  }

  unsigned(): Reply {
    const why = "gateway.require_signatures is on, and this channel has no secret to check deliveries with";
    return this.forged({ ok: false, code: "BAD_SIGNATURE", why });
  }

  /** The channel says that it can't be read, or is broken itself. */
  unread(error: unknown): Reply {
    return error instanceof SvcError && OF_PARSING.has(error.code) ? replyToError(error) : this.broken(error);
  }

  /** Anything may be in what was thrown; the place it was thrown at tells enough. */
  broken(error: unknown): Reply {
    this.#warn("a channel failed on deliveries: they were not kept", placeOf(error));
    return errorReply("INTERNAL");
  }

  notKept(error: unknown): Reply {
    const { code } = error instanceof SvcError ? error : { code: "INTERNAL" };
    this.#warn("deliveries could not be kept; their senders are told to try again", { code });
    return replyToError(error);
  }

  /** Not refused: acknowledged, or the platform would send them again and again. */
  tooOld(messages: number): void {
    this.#warn("messages were dropped: they say that they are older than their channel takes", {}, messages);
  }

  #warn(message: string, fields: { readonly [name: string]: string | undefined }, times = 1): void {
    const since = this.#lines.note(`${this.#fields.path} ${message}`, times);
    if (since > 0) this.#log.warn(message, { ...this.#fields, ...fields, times: since });
  }
}

function placeOf(error: unknown): { readonly threw: string; readonly at: string | undefined } {
  if (!(error instanceof Error)) return { threw: typeof error, at: undefined };
  const at = /^[ \t]+at (.+)$/m.exec(error.stack ?? "")?.[1];
  return { threw: error instanceof SvcError ? error.code : error.constructor.name, at };
}
