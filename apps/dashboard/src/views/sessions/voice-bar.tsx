/** The microphone beside the message box, and the bar above the box while a message is spoken. */
import { Button } from "../../parts/button.tsx";
import { Icon } from "../../parts/icon.tsx";
import { clockText, type Voice } from "./voice.ts";

export function MicrophoneButton({ voice }: { readonly voice: Voice }) {
  if (voice.state === "off") return null;
  return (
    <button
      type="button"
      class="icon-button"
      aria-label="Speak a message"
      title="Speak a message"
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
        {STATES[state]}
      </span>
      {state === "recording" && <span class="hint">{clockText(seconds)}</span>}
      {state === "recording" && (
        <Button kind="main" onPress={finish}>
          Done
        </Button>
      )}
      {state === "failed" && (
        <Button kind="main" onPress={retry}>
          Try again
        </Button>
      )}
      <Button onPress={cancel}>{state === "failed" ? "Discard" : "Cancel"}</Button>
    </div>
  );
}

const STATES = {
  asking: "Allow the microphone in the browser",
  recording: "Recording",
  writing: "Transcribing",
  failed: "Not transcribed. The recording is still here.",
} as const;
