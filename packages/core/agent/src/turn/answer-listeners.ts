/**
 * Who is told an answer in pieces. Whoever asked for the turn is shown each piece as it comes, so that a try that failed after
 * one is not repeated. Those who only look on must not cost the turn its further tries: they see what the first one gave,
 * and the whole answer at the turn's end.
 */
import type { AnswerListener } from "../models/call-model.ts";
import { RedactedStream, type Redaction } from "./redacted-stream.ts";

export interface Audience {
  /** Whoever asked wants pieces. */
  readonly isAsker: boolean;
  /** Somebody looks on now. */
  readonly isWatched: () => boolean;
  readonly redaction: Redaction;
  readonly tell: (text: string) => void;
}

/** Called for each try. */
export function answerListeners({ isAsker, isWatched, redaction, tell }: Audience): () => AnswerListener | undefined {
  if (isAsker) return () => new RedactedStream(redaction, tell);
  let shown: AnswerListener | undefined;
  return () => {
    if (shown?.hasTold === true || !isWatched()) return undefined;
    const stream = (shown = new RedactedStream(redaction, tell));
    return { push: (delta) => stream.push(delta), end: () => stream.end(), hasTold: false };
  };
}
