/**
 * Who is told an answer in pieces. Whoever asked for the turn is shown each piece as it comes, so that a try that failed after
 * one is not repeated. Those who only look on must not cost the turn its further tries: they see what the first one gave,
 * and the whole answer at the turn's end. A watcher can take back what it was told, and sees every try.
 */
import type { AnswerListener } from "../models/call-model.ts";
import { RedactedStream, type Redaction } from "./redacted-stream.ts";

export interface Audience {
  /** Whoever asked wants pieces. */
  readonly isAsker: boolean;
  /** Somebody looks on now. */
  readonly isWatched: () => boolean;
  readonly watcher: TryWatcher | undefined;
  readonly redaction: Redaction;
  readonly tell: (text: string) => void;
}

export interface TryWatcher {
  /** A try begins: what it was told of the one before is void. */
  begin(): void;
  push(text: string): void;
}

/** Called for each try. */
export function answerListeners(audience: Audience): () => AnswerListener | undefined {
  const { isAsker, isWatched, watcher, redaction, tell } = audience;
  if (isAsker && !watcher) return () => new RedactedStream(redaction, tell);
  let shown: AnswerListener | undefined;
  return () => {
    const isTold = isAsker || (shown?.hasTold !== true && isWatched());
    if (!isTold && !watcher) return undefined;
    watcher?.begin();
    const stream = new RedactedStream(redaction, hearing(isTold ? tell : undefined, watcher));
    if (isTold) shown = stream;
    return isAsker ? stream : { push: (delta) => stream.push(delta), end: () => stream.end(), hasTold: false };
  };
}

function hearing(tell: Audience["tell"] | undefined, watcher: TryWatcher | undefined): Audience["tell"] {
  return (text) => {
    tell?.(text);
    watcher?.push(text);
  };
}
