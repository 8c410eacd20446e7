/** Public paths; the manifest names them too. */
export const PATHS = {
  incoming: "/voice-call",
  next: "/voice-call/next",
  speech: "/voice-call/speech",
  status: "/voice-call/status",
  audio: "/voice-call/audio",
} as const;
