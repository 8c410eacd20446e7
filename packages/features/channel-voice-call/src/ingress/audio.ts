/** `/voice-call/audio`: speech that the platform plays. Who knows the id was told it in a call. */
import type { Ingress } from "@svc/contract";
import type { AudioShelf } from "../send/audio-shelf.ts";
import { PATHS } from "./paths.ts";

export function audioFiles(shelf: AudioShelf): Ingress {
  return {
    path: PATHS.audio,
    methods: ["GET"],
    signed: true,
    verify({ query, receivedAtMs }) {
      if (shelf.get(query.get("id") ?? "", receivedAtMs)) return { ok: true };
      return { ok: false, code: "BAD_VERIFY_TOKEN", why: "there is no such audio, or not any more" };
    },
    parse({ query, receivedAtMs }) {
      const audio = shelf.get(query.get("id") ?? "", receivedAtMs);
      return {
        reply: { status: 200, contentType: audio?.mimeType ?? "audio/mpeg", body: audio?.bytes ?? new Uint8Array() },
      };
    },
  };
}
