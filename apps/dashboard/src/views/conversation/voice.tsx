/** The microphone beside the message box, and the bar above the box while a message is spoken. */
import type { StatusReport, Transcript } from "@svc/api";
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, asApiError } from "../../client/api.ts";
import { Button } from "../../components/button.tsx";
import { Icon } from "../../components/icon.tsx";
import { useServices } from "../../services.ts";
import { useList } from "../../state/use-reader.ts";
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

/** `1:05`. */
const clockText = (seconds: number): string => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;

/**
 * Speech as text: the microphone is recorded, and the service transcribes the recording. A recording that could not be transcribed stays in
 * the tab until it is tried again or discarded; nothing else keeps it.
 */
type VoiceState = "off" | "idle" | "asking" | "recording" | "writing" | "failed";

interface Voice {
  /** off: the service does not transcribe. */
  readonly state: VoiceState;
  /** Of the recording that runs. */
  readonly seconds: number;
  readonly error: ApiError | undefined;
  readonly start: () => void;
  /** What was said is written down. */
  readonly finish: () => void;
  /** Transcribes the recording again. */
  readonly retry: () => void;
  /** Nothing of it is. */
  readonly cancel: () => void;
}

/** The API accepts 25 MiB. */
const MAX_SECONDS = 300;

export function useVoice(onText: (text: string) => void): Voice {
  const { api } = useServices();
  const { data } = useList<StatusReport>("/api/status", []);
  const [state, setState] = useState<Exclude<VoiceState, "off">>("idle");
  const [seconds, setSeconds] = useState(0);
  const [error, setError] = useState<ApiError>();
  const running = useRef<{ readonly stop: AbortController; readonly finish: () => void } | undefined>(undefined);
  const failed = useRef<Blob | undefined>(undefined);
  const heard = useRef(onText);
  heard.current = onText;
  const cancel = (): void => {
    failed.current = undefined;
    setError(undefined);
    running.current?.stop.abort();
    // While the browser asks for the microphone nothing else ends it.
    running.current = undefined;
    setState("idle");
  };
  useEffect(() => () => running.current?.stop.abort(), []);
  /** `bytes`: an earlier recording. */
  const run = async (bytes?: Blob): Promise<void> => {
    if (running.current) return;
    const stop = new AbortController();
    const { signal } = stop;
    running.current = { stop, finish: () => {} };
    setError(undefined);
    let take = bytes;
    let ends: "idle" | "failed" = "idle";
    try {
      if (!take) {
        setSeconds(0);
        setState("asking");
        take = await recording(signal, {
          onStart(finish) {
            running.current = { stop, finish };
            setState("recording");
          },
          onSecond: setSeconds,
        });
      }
      failed.current = take;
      setState("writing");
      const { text } = await api.upload<Transcript>("/api/transcriptions", {
        bytes: take,
        headers: { "Content-Type": "application/octet-stream" },
        signal,
      });
      failed.current = undefined;
      if (text.trim() === "") throw new ApiError("SILENCE", t("sessions.nothing-was-said-in-the"));
      heard.current(text.trim());
    } catch (cause) {
      if (!signal.aborted) setError(asApiError(cause));
      if (failed.current) ends = "failed";
    } finally {
      if (running.current?.stop === stop) {
        running.current = undefined;
        setState(ends);
      }
    }
  };
  return {
    state: data?.transcription === true ? state : "off",
    seconds,
    error,
    start: () => void run(),
    finish: () => running.current?.finish(),
    retry: () => void run(failed.current),
    cancel,
  };
}

interface RecordingCallbacks {
  /** The recording has started; call the argument to end it. */
  readonly onStart: (finish: () => void) => void;
  readonly onSecond: (seconds: number) => void;
}

/** Resolves with the recording. Throws ApiError; with the signal's reason when it was called off. */
async function recording(signal: AbortSignal, { onStart, onSecond }: RecordingCallbacks): Promise<Blob> {
  // A page that came by plain HTTP has no microphone.
  if (navigator.mediaDevices === undefined || typeof MediaRecorder === "undefined") {
    throw new ApiError("NO_MICROPHONE", t("sessions.browsers-allow-the-microphone-only"));
  }
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true }).catch((cause: unknown) => {
    throw refusal(cause);
  });
  const release = (): void => stream.getTracks().forEach((track) => track.stop());
  try {
    signal.throwIfAborted();
    return await recorded(stream, signal, { onStart, onSecond });
  } finally {
    release();
  }
}

function recorded(stream: MediaStream, signal: AbortSignal, { onStart, onSecond }: RecordingCallbacks): Promise<Blob> {
  return new Promise((resolve, reject) => {
    const recorder = new MediaRecorder(stream);
    const pieces: Blob[] = [];
    let seconds = 0;
    const finish = (): void => {
      if (recorder.state !== "inactive") recorder.stop();
    };
    const timer = setInterval(() => {
      seconds += 1;
      onSecond(seconds);
      if (seconds >= MAX_SECONDS) finish();
    }, 1000);
    signal.addEventListener("abort", () => {
      reject(signal.reason as Error);
      finish();
    });
    recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
    recorder.addEventListener("error", () =>
      reject(new ApiError("NO_MICROPHONE", t("sessions.the-recording-was-interrupted"))),
    );
    recorder.addEventListener("stop", () => {
      clearInterval(timer);
      resolve(new Blob(pieces, { type: recorder.mimeType }));
    });
    recorder.start();
    onStart(finish);
  });
}

function refusal(cause: unknown): ApiError {
  const name = cause instanceof DOMException ? cause.name : "";
  if (name === "NotFoundError") return new ApiError("NO_MICROPHONE", t("sessions.there-is-no-microphone"));
  if (name === "NotAllowedError") {
    return new ApiError("NO_MICROPHONE", t("sessions.the-microphone-is-not-allowed"));
  }
  return new ApiError("NO_MICROPHONE", t("sessions.the-microphone-cant-be-used"));
}
