import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { path } from "../../api/client.ts";
import { useServices } from "../../services.ts";
import { type Action, useAction } from "../../state/use-action.ts";
import { type Read, useReader } from "../../state/use-reader.ts";
import { prepended, renewed, type Transcript } from "./transcript-pages.ts";

const LIMIT = 50;

export interface ShownTranscript {
  readonly transcript: Transcript | undefined;
  readonly read: Read<Transcript>;
  readonly earlier: Action<[]>;
  /** Something was sent: reads it again. */
  readonly sent: () => Promise<void>;
  readonly hasSent: { current: boolean };
}

export function useTranscript(id: string): ShownTranscript {
  const { api } = useServices();
  const messages = path`/api/sessions/${id}/messages`;
  const read = useReader<Transcript>(messages, ["sessions"], (api, signal) =>
    api.get(messages, { limit: LIMIT }, signal),
  );
  const [transcript, setTranscript] = useState<Transcript>();
  useEffect(() => {
    if (read.data) setTranscript((shown) => renewed(shown, read.data as Transcript));
  }, [read.data]);
  const earlier = useAction(async () => {
    const before = transcript?.before;
    if (before === undefined || before === null) return;
    const older = await api.get<Transcript>(messages, { limit: LIMIT, before });
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
