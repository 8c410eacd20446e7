/**
 * Files: uploaded to a link that is a permission in itself, fetched with the bot's token.
 * https://docs.slack.dev/messaging/working-with-files
 */
import type { Json } from "@svc/contract";
import { randomUUID } from "node:crypto";
import type { PlatformReply, PlatformRequest } from "../base.ts";
import { SlackRefusal } from "./refusal.ts";
import { SLACK_BOT, SLACK_TEAM } from "./workspace.ts";

export interface SlackFileOptions {
  readonly name?: string;
  readonly mimetype: string;
  /** `slack_audio`, `slack_video`: recorded in the client. */
  readonly subtype?: string;
  /** Where `url_private` leads; default: to the platform. */
  readonly link?: string;
  readonly mode?: "hosted" | "external" | "tombstone" | "snippet";
}

export interface SlackFiles {
  /** Adds a person's file; returns its id. */
  host(bytes: Uint8Array, options: SlackFileOptions): string;
  /** Deletes it. */
  forget(id: string): void;
  /** As methods and events show it. Throws `file_not_found`. */
  info(id: string): Json;
  /** A place for an upload. */
  expect(name: string, length: number): { id: string; url: string };
  /** Throws `file_not_found` for what was not uploaded. */
  complete(id: string, title: string | undefined): Json;
  /** Answers uploads and downloads; undefined for other paths. */
  serve(request: PlatformRequest): Promise<PlatformReply | undefined>;
  /** What was uploaded and completed, oldest first. */
  readonly uploaded: readonly { readonly id: string; readonly name: string; readonly bytes: Uint8Array }[];
}

interface Stored extends SlackFileOptions {
  readonly id: string;
  readonly name: string;
  readonly length: number;
  bytes: Uint8Array | undefined;
  title: string | undefined;
  isComplete: boolean;
}

const UPLOAD = /^\/upload\/v1\/([A-Za-z0-9-]+)$/;
const DOWNLOAD = new RegExp(`^/files-pri/${SLACK_TEAM.id}-(F[A-Z0-9]+)/`);

/** `url`: of the platform. */
export function slackFiles(url: () => string, botToken: string): SlackFiles {
  const files = new Map<string, Stored>();
  const tickets = new Map<string, string>();
  const order: string[] = [];
  const add = (file: Omit<Stored, "id">): Stored => {
    const id = `F${randomUUID().replaceAll("-", "").slice(0, 10).toUpperCase()}`;
    const stored = { ...file, id };
    files.set(id, stored);
    return stored;
  };
  const found = (id: string): Stored => {
    const file = files.get(id);
    if (file === undefined || !file.isComplete) throw new SlackRefusal("file_not_found");
    return file;
  };
  const info = (id: string): Json => fileJson(found(id), url());

  return {
    host: (bytes, options) =>
      add({ ...options, name: options.name ?? "file", bytes, length: bytes.length, title: undefined, isComplete: true })
        .id,
    forget: (id) => void files.delete(id),
    info,
    expect(name, length) {
      const mimetype = "application/octet-stream";
      const { id } = add({ name, length, mimetype, bytes: undefined, title: undefined, isComplete: false });
      const ticket = randomUUID();
      tickets.set(ticket, id);
      return { id, url: `${url()}/upload/v1/${ticket}` };
    },
    complete(id, title) {
      const file = files.get(id);
      if (file?.bytes === undefined || file.isComplete) throw new SlackRefusal("file_not_found");
      Object.assign(file, { title, isComplete: true });
      order.push(id);
      return info(id);
    },
    async serve({ method, path, headers, body }) {
      const ticket = UPLOAD.exec(path)?.[1];
      if (ticket !== undefined) {
        const file = files.get(tickets.get(ticket) ?? "");
        const bytes = method === "POST" ? await uploadedBytes(headers["content-type"], body) : undefined;
        const isBad = file === undefined || file.bytes !== undefined || bytes?.length !== file.length;
        if (isBad) return { status: 400, json: { ok: false } };
        file.bytes = bytes;
        return { bytes: Buffer.from(`OK - ${bytes.length}`) };
      }
      const id = DOWNLOAD.exec(path)?.[1];
      if (id === undefined) return undefined;
      // Without a token that may, one is sent to where people sign in.
      if (headers["authorization"] !== `Bearer ${botToken}`) {
        return {
          status: 302,
          headers: { location: `https://${SLACK_TEAM.domain}.slack.com/?redir=${encodeURIComponent(path)}` },
        };
      }
      const file = files.get(id);
      if (file?.bytes === undefined) return { status: 404, bytes: Buffer.from("Not found") };
      return { headers: { "content-type": file.mimetype }, bytes: file.bytes };
    },
    get uploaded() {
      return order.map((id) => files.get(id)!).map(({ id, name, bytes }) => ({ id, name, bytes: bytes! }));
    },
  };
}

/** As they are, or the file of a form. */
async function uploadedBytes(type: string | undefined, body: Uint8Array): Promise<Uint8Array | undefined> {
  if (type?.startsWith("multipart/form-data") !== true) return body;
  const form = new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } }).formData();
  const file = [...(await form).values()].find((value) => typeof value !== "string");
  return file === undefined ? undefined : new Uint8Array(await file.arrayBuffer());
}

function fileJson({ id, name, title, mimetype, subtype, mode = "hosted", link, length }: Stored, url: string): Json {
  if (mode === "tombstone") return { id, mode };
  const target = link ?? `${url}/files-pri/${SLACK_TEAM.id}-${id}/download/${encodeURIComponent(name)}`;
  return {
    id,
    name,
    title: title ?? name,
    mimetype,
    size: length,
    mode,
    is_external: mode === "external",
    url_private: target,
    url_private_download: target,
    user: SLACK_BOT.user,
    ...(subtype !== undefined && { subtype }),
  };
}
