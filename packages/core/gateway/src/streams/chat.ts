/**
 * Turns for messages on a WebSocket. As with `POST /webhook` a turn continues when its connection is lost: its answer is then
 * in the conversation.
 */
import { type Clock, type Json, type Logger, turnFailure, type TurnEvent } from "@svc/contract";
import type { TurnRunner } from "@svc/agent";
import type { Device } from "@svc/store";
import { authorOf, type Principal } from "../auth/authenticator.ts";
import { errorReply, type Reply, replyToError } from "../http/reply.ts";
import type { Client, SlidingWindow } from "../client.ts";
import type { Requests } from "../http/request.ts";
import type { RunningTurns } from "../pipeline.ts";
import type { CoreConfig } from "@svc/config";

export interface ChatDeps {
  readonly turns: TurnRunner;
  readonly running: RunningTurns;
  /** The one of `POST /webhook`. */
  readonly limit: SlidingWindow;
  /** Those in force: a connection may outlive many. */
  readonly settings: () => { readonly webhook: CoreConfig["channels_config.webhook"] };
  readonly isDraining: () => boolean;
  readonly requests: Pick<Requests, "alone">;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ChatMessage {
  readonly content: string;
  readonly session: string | undefined;
}

export type Answer =
  | { readonly type: "reply"; readonly response: string; readonly model: string; readonly session_id: string }
  | Reply;

/** A client that sends one message after the other without waiting can use POST /webhook. */
const MAX_RUNNING = 4;
const TOO_MANY = errorReply("BUSY", {
  message: `At most ${MAX_RUNNING} messages of a connection are answered at once.`,
});
const POST_INSTEAD = errorReply("FORBIDDEN_SCOPE", {
  message: "With a webhook secret in the config this token opens POST /webhook only.",
});
const MAY_NOT = errorReply("FORBIDDEN_SCOPE", { message: "This token may read, and not write." });

/** What one connection says. */
export class Chat {
  readonly #deps: ChatDeps;
  readonly #device: Device;
  readonly #client: Client;
  /** A person writes; what a program sends is never a command. */
  readonly #isPage: boolean;
  readonly #begun = new Set<string>();
  #running = 0;

  constructor(deps: ChatDeps, { device, signIn }: Pick<Principal, "device" | "signIn">, client: Client) {
    this.#deps = deps;
    this.#device = device;
    this.#client = client;
    this.#isPage = signIn !== undefined;
  }

  /** Ids of the turns that run. */
  get begun(): ReadonlySet<string> {
    return this.#begun;
  }

  get isIdle(): boolean {
    return this.#running === 0;
  }

  /** Counts a message against the limit, valid or not. Returns a refusal before the message is parsed. */
  refusal(): Reply | undefined {
    const { limit, clock, isDraining } = this.#deps;
    const waitMs = limit.take(this.#client.limiterKey, clock.monotonic());
    if (waitMs > 0) return errorReply("RATE_LIMITED", { retryAfterMs: waitMs });
    const forbidden = this.forbidden();
    if (forbidden) return forbidden;
    if (this.#device.scope === "read") return MAY_NOT;
    if (isDraining()) return errorReply("DRAINING");
    return this.#running >= MAX_RUNNING ? TOO_MANY : undefined;
  }

  /** Why the device may not even be connected. */
  forbidden(): Reply | undefined {
    // The second secret is there for the day on which such a token is in the wrong hands.
    const { secret, signing_secret: signingSecret = "" } = this.#deps.settings().webhook;
    const isSecured = secret !== undefined || signingSecret.trim() !== "";
    return isSecured && this.#device.scope === "webhook" ? POST_INSTEAD : undefined;
  }

  /** Never rejects. Each message is a separate request, however long the connection is open. */
  answer(message: ChatMessage): Promise<Answer> {
    return this.#deps.requests.alone(() => this.#answer(message));
  }

  async #answer(message: ChatMessage): Promise<Answer> {
    this.#running += 1;
    let turnId = "";
    const onEvent = (event: TurnEvent): void => {
      if (event.type === "turn-start") this.#begun.add((turnId = event.turnId));
    };
    try {
      const { response, model, sessionId } = await this.#run(message, onEvent);
      return { type: "reply", response, model, session_id: sessionId };
    } catch (error) {
      const reply = replyToError(error, this.#fieldsOf(error));
      this.#deps.log.warn("a turn from /ws failed", {
        status: reply.status,
        cause: error instanceof Error ? error.message : "unknown",
      });
      return reply;
    } finally {
      this.#begun.delete(turnId);
      this.#running -= 1;
    }
  }

  /** What an operator can do about it, and what the provider said; for others it would be about the set-up. */
  #fieldsOf(error: unknown): { readonly [name: string]: Json } | undefined {
    if (this.#device.scope !== "operator") return undefined;
    const { fix, said } = turnFailure(error);
    return { fix, ...(said !== undefined && { said }) };
  }

  #run({ content: text, session }: ChatMessage, onEvent: (event: TurnEvent) => void): ReturnType<TurnRunner["run"]> {
    const { turns, running, settings } = this.#deps;
    const { agent } = settings().webhook;
    const { id, clientId } = this.#device;
    const request = {
      clientId,
      owner: clientId,
      text,
      author: authorOf(this.#device),
      sender: "",
      ...(this.#isPage && { takesCommands: true as const }),
      onEvent,
      ...(session !== undefined && { session }),
      ...(agent !== undefined && { agent }),
    };
    return running.track((signal) => turns.run({ ...request, signal }), id);
  }
}
