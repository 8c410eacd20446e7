/** The microphone's current state, and its cost in the last hour. */
import { Badge } from "../../parts/badge.tsx";
import { useRunningFeatures } from "../../shell/use-running-features.ts";
import { useList } from "../../state/use-reader.ts";
import { dollars } from "../../text/words.ts";
import { number, t } from "../../texts/texts.ts";

/** Feature and channel that listens. */
const FEATURE = "voice-wake";
const CHANNEL = "voice_wake";

interface Microphone {
  readonly state: string;
  readonly transcriptions: number;
  readonly limit: number;
  readonly cost_usd: number | null;
}

export function MicrophoneState({ channel }: { readonly channel: string }) {
  const running = useRunningFeatures();
  return channel === CHANNEL && running.has(FEATURE) ? <Listening /> : null;
}

function Listening() {
  const { data } = useList<Microphone>("/api/voice-wake", ["voice", "status"]);
  if (!data) return null;
  return (
    <p role="status">
      <Badge state={data.state} />{" "}
      {t("overview.transcriptions", { count: number(data.transcriptions), limit: number(data.limit) })}
      {data.cost_usd !== null && `, ${dollars(data.cost_usd)}`}
    </p>
  );
}
