/** What messages are answered with. */
import type { Clock, FetchOptions, FetchResult, Logger, MessageEvent, Workspace } from "@svc/contract";
import type { Instruments } from "@svc/kernel";
import type { Store } from "@svc/store";
import type { Agent } from "../../types.ts";
import type { OutboxDispatcher } from "../outbox.ts";
import type { AskPerson } from "../../types.ts";
import type { AskPlace, ChannelIdentity, MessagingSettings, ReplyTaker } from "../types.ts";
import type { SpeechPlaces } from "../speech/places.ts";
import type { RunProgram } from "../speech/program.ts";
import type { DraftIds } from "../writing/draft-ids.ts";
import type { Presence } from "./presence.ts";
import type { Waits } from "./waits.ts";

export interface InboxParts {
  readonly store: Pick<Store, "audit" | "inbox" | "outbox" | "steps" | "write" | "writable">;
  readonly agent: Pick<Agent, "run" | "command" | "abandon" | "replyByHand" | "stop" | "drain">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly instruments: Instruments;
  readonly identity: ChannelIdentity;
  /** Of an agent; undefined when there is no such agent. */
  readonly workspaceOf: (agent: string) => Workspace | undefined;
  /** The way out to the services of speech. */
  readonly fetch: (url: string, options?: FetchOptions) => Promise<FetchResult>;
  /** Runs the programs of [transcription] and [tts]. */
  readonly runProgram: RunProgram;
  readonly publish: (event: MessageEvent) => void;
  /** Takes messages that answer a question of ours. */
  readonly replies?: ReplyTaker;
  /** Who is asked about the acting calls of a turn. Default: whoever the agent was made with. */
  readonly askIn?: (where: AskPlace) => AskPerson;
  /** 0 ≤ x < 1, for the jitter of retries. */
  readonly random: () => number;
  readonly dispatcher: Pick<OutboxDispatcher, "wake" | "isIdle">;
  readonly presence: Presence;
  readonly drafts: DraftIds;
  readonly waits: Waits;
  /** How many messages wait in a lane behind the one that is worked on. */
  readonly waitingBehind: (lane: string) => number;
  readonly transcriber: SpeechPlaces;
  /** Those in force now. */
  readonly settings: () => MessagingSettings;
  /** Aborted when nothing is waited for any more. */
  readonly stopping: AbortSignal;
}

/** What the inbox brings itself. */
export type InboxOwned = "stopping" | "presence" | "drafts" | "waits" | "waitingBehind";
