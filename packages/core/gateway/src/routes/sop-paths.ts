/** Paths that start procedures: any that is no route's, as it is written in a trigger. They come and go with the files. */
import type { SopsStarted } from "@svc/api";
import type { Logger } from "@svc/contract";
import { parseJson } from "@svc/kit";
import type { Dispatched, Sops } from "@svc/sop";
import { errorReply, jsonReply, type Reply, replyToError } from "../http/reply.ts";
import { pathPattern } from "../http/request.ts";
import { DUPLICATE_REPLY } from "../pipeline.ts";
import type { Check, Exchange } from "../pipeline.ts";
import type { RequestEvents } from "../sop-events.ts";

export interface SopPathsDeps {
  readonly sops: Pick<Sops, "hasPath">;
  readonly events: RequestEvents;
  readonly log: Logger;
  /** Of all routes that are looked for first. */
  readonly taken: readonly string[];
}

export class SopPaths {
  readonly #deps: SopPathsDeps;
  #taken: readonly RegExp[] | undefined;

  constructor(deps: SopPathsDeps) {
    this.#deps = deps;
  }

  has(path: string): boolean {
    return this.#deps.sops.hasPath(path) && !this.#isTaken(path);
  }

  #isTaken(path: string): boolean {
    this.#taken ??= this.#deps.taken.map(pathPattern);
    return this.#taken.some((pattern) => pattern.test(path));
  }

  /**
   * As the claim has it: the sender's key is about one path, for a build may tell several of them of itself. The signed id
   * is about the request, which does not say where it was sent to.
   */
  static readonly keyOn = (path: string, key: string): string => `${path} ${key}`;

  /** 400 BAD_JSON */
  readonly json: Check = ({ body }) => (parseJson(body) === undefined ? errorReply("BAD_JSON") : undefined);

  /** Starts what the request fits. */
  readonly start = async ({ path, body, caller, claim }: Exchange): Promise<Reply> => {
    const started = await this.#deps.events.start(path, body, caller, claim);
    return started === "duplicate" ? DUPLICATE_REPLY : startedReply(started);
  };

  readonly failed = (error: unknown, { path }: Exchange): Reply => {
    const reply = replyToError(error);
    const cause = error instanceof Error ? error.message : "unknown";
    this.#deps.log.warn("a request could not start procedures", { path, status: reply.status, cause });
    return reply;
  };
}

const startedReply = ({ runs, skipped }: Dispatched): Reply =>
  jsonReply(202, {
    runs: runs.map(({ sop, runId }) => ({ sop, run_id: runId })),
    skipped: skipped.map(({ sop, reason }) => ({ sop, reason })),
  } satisfies SopsStarted);
