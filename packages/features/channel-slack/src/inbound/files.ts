/**
 * Files of a message. Each is looked up again when it is fetched: what an event says of it is only a name.
 * https://docs.slack.dev/reference/objects/file-object
 */
import type { InboundMedia, Json, MediaKind } from "@svc/contract";
import { type Fields, fieldsOf, listOf, textOf, wordOf } from "../fields.ts";
import { fileId } from "../ids.ts";

export interface MessageFiles {
  readonly media: readonly InboundMedia[];
  /** Placeholders of those that can be fetched, and words for those that can't, in order. */
  readonly lines: readonly string[];
}

/** More than anybody attaches to one message. */
const MOST_FILES = 20;

export function filesOf(files: Json | undefined): MessageFiles {
  const read = listOf(files)
    .slice(0, MOST_FILES)
    .map(fieldsOf)
    .flatMap((file) => fileOf(file) ?? []);
  return {
    media: read.flatMap(({ media }) => media ?? []),
    lines: read.map(({ line }) => line),
  };
}

function fileOf(file: Fields): { media?: InboundMedia; line: string } | undefined {
  const ref = fileId(file["id"]);
  if (ref === undefined) return undefined;
  const name = printable(wordOf(file["name"]) ?? wordOf(file["title"]) ?? "");
  // Deleted meanwhile, or beyond what a free workspace shows.
  if (file["mode"] === "tombstone" || file["mode"] === "hidden_by_limit") return { line: "[a file that is gone]" };
  if (file["is_external"] === true) return { line: externalLine(name, file) };
  const mimeType = mimeTypeOf(file["mimetype"]);
  const kind = kindOf(file, mimeType);
  const placeholder = `[${kind}${name === "" ? "" : `: ${name}`}]`;
  const media: InboundMedia = {
    kind,
    ref,
    placeholder,
    ...(mimeType !== undefined && { mimeType }),
    ...(name !== "" && { fileName: name }),
  };
  return { media, line: placeholder };
}

/** It is somewhere else, where our token is nothing. */
function externalLine(name: string, file: Fields): string {
  const url = textOf(file["url_private"]) ?? textOf(file["permalink"]);
  const isLink = url !== undefined && url.length <= 2_000 && /^https?:\/\/[^\s]+$/.test(url);
  return `[a file elsewhere${name === "" ? "" : `: ${name}`}]${isLink ? ` ${url}` : ""}`;
}

function kindOf({ subtype }: Fields, mimeType: string = ""): MediaKind {
  // Recorded in the client; the type of a voice clip may be that of a film.
  if (subtype === "slack_audio") return "audio";
  if (subtype === "slack_video") return "video";
  const [family] = mimeType.split("/", 1);
  return family === "image" || family === "audio" || family === "video" ? family : "document";
}

/** Without parameters. */
export function mimeTypeOf(value: Json | undefined): string | undefined {
  const type = textOf(value)?.split(";", 1)[0]?.trim().toLowerCase() ?? "";
  return /^[a-z0-9!#$&^_.+-]{1,100}\/[a-z0-9!#$&^_.+-]{1,100}$/.test(type) ? type : undefined;
}

const printable = (name: string): string => name.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, " ").trim();
