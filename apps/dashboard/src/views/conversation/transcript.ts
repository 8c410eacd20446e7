/** The stored messages of a conversation, read page by page from the end, and its running turns. */
import type { SessionMessage, SessionPage } from "@svc/api";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { path } from "../../client/api.ts";
import { useServices } from "../../services.ts";
import { useCell } from "../../cell.ts";
import { type Action, useAction } from "../../state/use-action.ts";
import { type Read, useReader } from "../../state/use-reader.ts";
import type { LiveTurn } from "./live-turns.ts";

const LIMIT = 50;

export interface TranscriptView {
  readonly transcript: SessionPage | undefined;
  readonly read: Read<SessionPage>;
  readonly earlier: Action<[]>;
  /** Call after sending: reads the transcript again. */
  readonly sent: () => Promise<void>;
  readonly hasSent: { current: boolean };
}

export function useTranscript(id: string): TranscriptView {
  const { api } = useServices();
  const messages = path`/api/sessions/${id}/messages`;
  const read = useReader<SessionPage>(messages, ["sessions"], (api, signal) =>
    api.get(messages, { limit: LIMIT }, signal),
  );
  const [transcript, setTranscript] = useState<SessionPage>();
  useEffect(() => {
    if (read.data) setTranscript((shown) => renewed(shown, read.data as SessionPage));
  }, [read.data]);
  const earlier = useAction(async () => {
    const before = transcript?.before;
    if (before === undefined || before === null) return;
    const older = await api.get<SessionPage>(messages, { limit: LIMIT, before });
    // A reload meanwhile may have changed the start; the reader can press again.
    setTranscript((shown) => (shown?.before === before ? prepended(shown, older) : shown));
  });
  const hasSent = useRef(false);
  const { refresh } = read;
  const sent = useCallback((): Promise<void> => {
    hasSent.current = true;
    return refresh();
  }, [refresh]);
  return { transcript, read, earlier, sent, hasSent };
}

/** Turns of a conversation that the transcript does not have yet. */
export function useLiveTurns(conversation: string, transcript: SessionPage | undefined): readonly LiveTurn[] {
  const { turns } = useServices();
  useCell(turns.changes);
  useEffect(() => {
    if (transcript) turns.settle(conversation, transcript.messages);
  }, [transcript]);
  return turns.of(conversation);
}

export type FollowUp = NonNullable<SessionPage["newest"]>["can"][number];

/** @param older The page before `shown`. */
export const prepended = (shown: SessionPage, older: SessionPage): SessionPage => ({
  ...shown,
  messages: [...older.messages, ...shown.messages],
  before: older.before,
});

/** The newest page was read again. What was shown above it stays, as far as no message is missing in between. */
export function renewed(shown: SessionPage | undefined, newest: SessionPage): SessionPage {
  const [first] = newest.messages;
  if (shown === undefined || first === undefined) return newest;
  const at = shown.messages.findIndex((message) => isSame(message, first));
  if (at < 0) return newest;
  return {
    messages: [...shown.messages.slice(0, at), ...newest.messages],
    before: at === 0 ? newest.before : shown.before,
    newest: newest.newest,
  };
}

const isSame = (one: SessionMessage, other: SessionMessage): boolean =>
  one.turn_id === other.turn_id && one.role === other.role && one.at === other.at && one.text === other.text;

/** Messages of one turn, which follow each other. */
export interface Turn {
  readonly id: string;
  readonly messages: readonly SessionMessage[];
}

export function turnsOf(messages: readonly SessionMessage[]): readonly Turn[] {
  const turns: { id: string; messages: SessionMessage[] }[] = [];
  for (const message of messages) {
    const last = turns.at(-1);
    if (last?.id === message.turn_id) last.messages.push(message);
    else turns.push({ id: message.turn_id, messages: [message] });
  }
  return turns;
}
