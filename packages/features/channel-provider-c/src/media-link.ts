/** Files are fetched with our token, so only from the platform's own host, even if a delivery names another. */
import type { InboundMedia, MediaKind } from "@svc/contract";
import { pathPart } from "@svc/kit";

/** Judged by the parsed URL: `https://platform@elsewhere` begins like one of the platform's. */
export function isOwnFile(apiUrl: string, link: string): boolean {
  if (!URL.canParse(link)) return false;
  const [api, file] = [new URL(apiUrl), new URL(link)];
  const isSafe = file.protocol === "https:" || (file.protocol === api.protocol && isLoopback(api.hostname));
  const isAnonymous = file.username === "" && file.password === "";
  return isSafe && isAnonymous && file.hostname === api.hostname && portOf(file) === portOf(api);
}

const portOf = ({ protocol, port }: URL): string => port || (protocol === "https:" ? "443" : "80");

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127\.[0-9]+\.[0-9]+\.[0-9]+$/.test(host);

/**
 * The file of a message of this type: by its link, else by the message's id, under which the platform has it too.
 * Undefined: the message has no file.
 */
export function mediaOf(
  type: string | undefined,
  link: string | undefined,
  messageId: string | undefined,
): InboundMedia | undefined {
  const kind = KINDS.get(type ?? "") ?? (link === undefined ? undefined : "document");
  const ref = link ?? (messageId === undefined ? undefined : `${BY_MESSAGE}${messageId}`);
  if (kind === undefined || ref === undefined) return undefined;
  const fileName = link === undefined ? undefined : fileNameOf(link);
  return { kind, ref, placeholder: `[${kind.toUpperCase()}:${ref}]`, ...(fileName !== undefined && { fileName }) };
}

/** https://docs.wati.io/reference/conversations_getmediafilebymessageid */
export function addressOf(apiUrl: string, ref: string): string {
  if (!ref.startsWith(BY_MESSAGE)) return ref;
  return `${apiUrl}/api/ext/v3/conversations/messages/file/${pathPart(ref.slice(BY_MESSAGE.length), "MEDIA_REFUSED")}`;
}

const BY_MESSAGE = "message:";

/** By the type as it came: a plain object would know a "constructor". */
const KINDS: ReadonlyMap<string, MediaKind> = new Map([
  ["image", "image"],
  ["audio", "audio"],
  ["voice", "audio"],
  ["video", "video"],
  ["document", "document"],
  ["sticker", "sticker"],
]);

/** Links are `…/showFile?fileName=data/images/<id>.jpg`, or end with the name. */
function fileNameOf(link: string): string | undefined {
  const { searchParams, pathname } = new URL(link);
  const name = (searchParams.get("fileName") ?? pathname).split("/").at(-1);
  return name !== undefined && /^[^\p{Cc}]{1,200}\.[A-Za-z0-9]{1,8}$/u.test(name) ? name : undefined;
}
