/** What the ways in share. */
import type { Logger } from "@svc/contract";
import type { Calls } from "../calls/calls.ts";
import type { Dialogue } from "../calls/dialogue.ts";
import type { Config } from "../config.ts";
import type { Documents } from "../twiml/documents.ts";

export interface IngressParts {
  readonly config: Config;
  /** Public URL of this service. */
  readonly base: string | undefined;
  readonly calls: Calls;
  readonly dialogue: Dialogue;
  readonly documents: Documents;
  /** Tells the log of who may not call, once each. */
  readonly letsIn: (caller: string) => boolean;
  readonly log: Logger;
}
