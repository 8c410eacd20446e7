/** What `svc init` works with while it asks: the draft of the config, and what is to be said when it is written. */
import type { Composition } from "@svc/contract";
import type { Home } from "@svc/config";
import type { CommandContext } from "../cli/command.ts";
import type { Draft } from "./draft.ts";

export interface Setup {
  readonly context: CommandContext;
  readonly home: Home;
  readonly composition: Composition;
  readonly draft: Draft;
  /** `--insecure`: a webhook without a secret is taken. */
  readonly insecure: boolean;
  /** Secrets made here, by their key. Each is shown once, at the end: the config keeps it encrypted. */
  readonly generated: Map<string, GeneratedSecret>;
}

export interface GeneratedSecret {
  readonly secret: string;
  /** What it is for. */
  readonly use: string | undefined;
}
