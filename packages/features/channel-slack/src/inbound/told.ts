/** What reading an event takes beside the event. */
import type { Config } from "../config.ts";
import type { People } from "../people.ts";
import type { Self } from "../self.ts";
import type { Threads } from "../threads.ts";

export interface Told {
  readonly config: Pick<Config, "mention_only" | "thread_replies">;
  /** Who we are there. */
  readonly self: Self;
  readonly people: Pick<People, "nameOf" | "want">;
  readonly threads: Pick<Threads, "has">;
  /** Whether this sender is heard. Tells the log of those who are not. */
  readonly mayWrite: (sender: string) => boolean;
}
