import { useEffect, useState } from "preact/hooks";
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
    // Read again meanwhile, it may begin elsewhere; then somebody presses once more.
    setTranscript((shown) => (shown?.before === before ? prepended(shown, older) : shown));
  });
  return { transcript, read, earlier };
}
