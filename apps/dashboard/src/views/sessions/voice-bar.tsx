/** The microphone beside the message box, and the bar above the box while a message is spoken. */
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { clockText, type Voice } from "./voice.ts";
import { t } from "../../texts/texts.ts";

export function MicrophoneButton({ voice }: { readonly voice: Voice }) {
  if (voice.state === "off") return null;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={t("sessions.speak-a-message")}
      title={t("sessions.speak-a-message")}
      disabled={voice.state !== "idle"}
      onClick={voice.start}
    >
      <Icon name="mic" />
    </button>
  );
}

export function VoiceBar({ voice: { state, seconds, finish, retry, cancel } }: { readonly voice: Voice }) {
  if (state === "off" || state === "idle") return null;
  const press = (event: KeyboardEvent): void => {
    if (event.key === "Escape") cancel();
  };
  return (
    <div class="voice-bar" onKeyDown={press}>
      <span class={`voice-state ${state}`} role="status">
        {t(STATES[state])}
      </span>
      {state === "recording" && <span class="hint">{clockText(seconds)}</span>}
      {state === "recording" && (
        <Button kind="main" onPress={finish}>
          {t("common.done")}
        </Button>
      )}
      {state === "failed" && (
        <Button kind="main" onPress={retry}>
          {t("common.try-again")}
        </Button>
      )}
      <Button onPress={cancel}>{state === "failed" ? t("common.discard") : t("common.cancel")}</Button>
    </div>
  );
}

const STATES = {
  asking: "sessions.allow-the-microphone-in-the",
  recording: "sessions.recording",
  writing: "sessions.transcribing",
  failed: "sessions.not-transcribed-the-recording-is",
} as const;
