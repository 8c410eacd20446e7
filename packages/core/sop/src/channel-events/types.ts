/** `POST /api/channel-events`, apart from HTTP: an event of a program on this machine, for people and for procedures. */
import type { Conversation } from "@svc/contract";

export interface PostedEvent {
  readonly type: string;
  readonly title: string | undefined;
  readonly message: string | undefined;
  readonly channels: readonly string[];
  /** Of `human_approval_request`. */
  readonly runId: string | undefined;
  readonly stepId: string | undefined;
  readonly approveKeywords: readonly string[] | undefined;
  readonly rejectKeywords: readonly string[] | undefined;
  /** The body as it came: the payload of procedures. */
  readonly json: string;
}

export interface PostedAnswer {
  readonly eventId: string;
  /** Known channels that are not configured, have no `notification_target`, or have a full backlog. */
  readonly skipped: readonly string[];
}

export interface ChannelEvents {
  /** Resolves once all of it is on disk. Throws BAD_REQUEST (with the field), APPROVAL_EXISTS, STORE_*. */
  post(event: PostedEvent): Promise<PostedAnswer>;
}

/** What is known of a channel that somebody names. */
export interface NotifiedChannel {
  /** In the config and in this build. It need not be connected: what it can't send yet waits in the outbox. */
  readonly isConfigured: boolean;
  /** `notification_target` of its section. */
  readonly target: Conversation | undefined;
  /** Messages that wait to be sent there. */
  readonly backlog: number;
  /** Longest text of one message. */
  readonly maxChars: number;
}
