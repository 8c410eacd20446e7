/** Files: in from the link that a message came with, out by an upload before the message. */
import { type FeatureContext, type Media, type OutgoingFile, SvcError } from "@svc/contract";
import { downloadMedia } from "@svc/kit";
import * as v from "valibot";
import type { Api } from "./api.ts";

/** The platform takes 100 MB; what goes through an agent's workspace is smaller. */
export const MAX_BYTES = 26_214_400;

type Context = Pick<FeatureContext, "fetch" | "clock">;

/** The link carries its own permission and may lead anywhere: our token stays here. */
export const mediaFetcher =
  ({ fetch, clock }: Context): Media["fetch"] =>
  ({ ref }, write, signal) =>
    downloadMedia(fetch, { url: ref, maxBytes: MAX_BYTES, write, signal, nowMs: clock.now() });

/** Resolves with the platform's id of the file. */
export type Upload = (file: OutgoingFile, signal: AbortSignal) => Promise<string>;

export function uploader(api: Api, { fetch }: Context): Upload {
  return async (file, signal) => {
    const bytes = await file.read();
    const told = { filename: file.name, content_type: file.mimeType, size_bytes: bytes.byteLength };
    const { json } = await api("/attachments", { json: told, signal });
    const place = v.safeParse(PLACE, json);
    if (!place.success) throw new SvcError("DELIVERY_FAILED", "The platform gave no place for the file.");
    const { attachment_id, upload_url, required_headers } = place.output;
    // The place is another server's: it gets what was asked for it, not our token. The length is the client's to say.
    const headers = Object.fromEntries(Object.entries(required_headers).filter(([name]) => !CLIENTS_OWN.test(name)));
    const { status } = await fetch(upload_url, { method: "PUT", headers, body: bytes, timeoutMs: UPLOAD_MS, signal });
    if (status >= 200 && status <= 299) return attachment_id;
    // Retry any failure: the next try gets a new upload URL.
    throw new SvcError("DELIVERY_FAILED", `The platform's file store answered with status ${status}.`);
  };
}

/** One attempt to send may take a minute in all. */
const UPLOAD_MS = 50_000;
const CLIENTS_OWN = /^(?:host|content-length)$/i;

const PLACE = v.object({
  attachment_id: v.pipe(v.string(), v.nonEmpty()),
  upload_url: v.string(),
  required_headers: v.optional(v.record(v.string(), v.string()), {}),
});
