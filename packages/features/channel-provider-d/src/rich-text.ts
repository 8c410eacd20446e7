/** A message with placeholders, `hi {mention-user1}`, as a person would read it; files in it as media. */
import type { InboundMedia } from "@svc/contract";
import { mediaKindOf, parseJson } from "@svc/kit";
import * as v from "valibot";

/** What both shapes of a delivery have in common. */
export interface DeliveryContext {
  readonly channel: string;
  readonly baseUrl: string;
  /** Blank: no sender is ignored by name. */
  readonly botName: string;
}

/**
 * A user's id unchanged; other ids get their kind as a prefix. A guest, or a person of another server, must not pass as a user
 * with the same id.
 */
export const senderOf = (kind: string, id: string): string => (kind === "users" ? id : `${kind}/${id}`);

/** Ids are numbers, in the order of the messages. */
export function numberOf(messageId: string): number | undefined {
  const number = /^[1-9]\d{0,15}$/.test(messageId) ? Number(messageId) : undefined;
  return Number.isSafeInteger(number) ? number : undefined;
}

export function isOwnName(name: string, botName: string): boolean {
  return botName.trim() !== "" && name.trim().toLowerCase() === botName.trim().toLowerCase();
}

/** A text; any other value reads as blank. */
export const anyText = v.fallback(v.string(), "");
/** A name or a type: longer than any of the platform's, or blank, it is nothing. */
export const anyWord = v.fallback(v.pipe(v.string(), v.trim(), v.maxLength(512)), "");
/** Numbers in one shape, texts in the other. */
export const anyId = v.pipe(v.union([v.string(), v.number()]), v.transform(String), v.regex(/^[\w-]{1,64}$/));

export interface Content {
  readonly message: string;
  readonly parameters: ReadonlyMap<string, RichObject>;
}

export interface Rendered {
  readonly text: string;
  readonly media: readonly InboundMedia[];
}

const richObject = v.object({
  type: v.string(),
  name: anyWord,
  link: anyText,
  mimetype: anyWord,
  latitude: v.fallback(v.pipe(v.union([v.string(), v.number()]), v.transform(String)), ""),
  longitude: v.fallback(v.pipe(v.union([v.string(), v.number()]), v.transform(String)), ""),
});
type RichObject = v.InferOutput<typeof richObject>;

const CONTENT = v.object({ message: v.string(), parameters: v.optional(v.unknown()) });

/** Parses the content as JSON; text that is not JSON is the message itself. */
export function contentOf(json: string): Content {
  const parsed = v.safeParse(CONTENT, parseJson(Buffer.from(json)));
  if (!parsed.success) return { message: json, parameters: new Map() };
  return { message: parsed.output.message, parameters: richParameters(parsed.output.parameters) };
}

/** None comes as an empty list: to PHP it is the same as an empty object. */
export function richParameters(parameters: unknown): ReadonlyMap<string, RichObject> {
  const found = new Map<string, RichObject>();
  if (typeof parameters !== "object" || parameters === null) return found;
  for (const [name, value] of Object.entries(parameters).slice(0, MAX_PARAMETERS)) {
    const parsed = v.safeParse(richObject, value);
    if (parsed.success) found.set(name, parsed.output);
  }
  return found;
}

/** The server takes at most a few dozen mentions of a message. */
const MAX_PARAMETERS = 500;

/** A file, or another object of the suite, shared in the room. */
export const hasAttachment = ({ parameters }: Content): boolean => parameters.has("file") || parameters.has("object");

export function renderText({ message, parameters }: Content, baseUrl: string): Rendered {
  const media: InboundMedia[] = [];
  const shown = new Set<string>();
  const render = (name: string, object: RichObject): string => {
    if (object.type !== "file") return textOf(object);
    if (!shown.has(name)) media.push(...mediaOf(object, baseUrl));
    shown.add(name);
    return fileText(object, baseUrl);
  };
  const text = message.replaceAll(/\{([\w-]{1,64})\}/g, (mark, name: string) => {
    const object = parameters.get(name);
    return object === undefined ? mark : render(name, object);
  });
  // A caption does not say where its file is.
  const rest = [...parameters].filter(([name, object]) => object.type === "file" && !shown.has(name));
  return { text: [text, ...rest.map(([name, object]) => render(name, object))].join("\n"), media };
}

/** Shown with an @, as people write mentions. */
const MENTIONED = new Set(["user", "guest", "call", "user-group", "circle", "email", "group"]);

function textOf({ type, name, link, latitude, longitude }: RichObject): string {
  if (MENTIONED.has(type)) return `@${name}`;
  if (type === "geo-location") return `[location: ${[name, latitude, longitude].filter(Boolean).join(", ")}]`;
  if (type === "talk-poll") return `[poll: ${name}]`;
  return link === "" ? name : `${name} (${link})`;
}

function mediaOf(file: RichObject, baseUrl: string): InboundMedia[] {
  const ref = shareOf(file.link, baseUrl);
  if (ref === undefined) return [];
  return [
    {
      kind: mediaKindOf(file.mimetype),
      ref,
      placeholder: fileText(file, baseUrl),
      ...(file.mimetype !== "" && { mimeType: file.mimetype }),
      ...(file.name !== "" && { fileName: file.name }),
    },
  ];
}

function fileText(file: RichObject, baseUrl: string): string {
  const name = file.name.replaceAll(/[\p{Cc}[\]]+/gu, " ").trim() || "without a name";
  return shareOf(file.link, baseUrl) === undefined
    ? `[file: ${name}; it can't be fetched from the platform]`
    : `[file: ${name}]`;
}

// Files of a room. The bot API has no way to fetch one, but a delivery carries its share link; the server lets in who has it when the
// conversation is an open one, as it does for guests, and answers 404 otherwise.

/** The token of a share on this server; undefined for a link to anything else. */
function shareOf(link: string, baseUrl: string): string | undefined {
  if (!link.startsWith(`${baseUrl}/`)) return undefined;
  return /^\/(?:index\.php\/)?s\/([A-Za-z0-9]{5,64})$/.exec(link.slice(baseUrl.length))?.[1];
}

export const isShareToken = (text: string): boolean => /^[A-Za-z0-9]{5,64}$/.test(text);

/** With index.php: servers without pretty URLs have no other. */
export const downloadUrl = (apiUrl: string, share: string): string => `${apiUrl}/index.php/s/${share}/download`;
