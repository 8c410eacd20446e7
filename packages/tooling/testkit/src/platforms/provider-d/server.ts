/**
 * Provider D's server, as its documents and its source say: the bot API with signed messages, the public capabilities,
 * share links of files, and OCS envelopes, which are XML unless the client asks for JSON.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { type FakePlatform, type PlatformReply, type PlatformRequest, startPlatform } from "../base.ts";
import { capabilities } from "./capabilities.ts";
import { ocs } from "./ocs.ts";

export interface ProviderDOptions {
  /** The bot's shared secret: 40 to 128 characters, or nobody could have installed it. */
  readonly secret: string;
  /** Rooms that the bot is set up in. Default: every room. */
  readonly rooms?: readonly string[];
  /** Features of the app; default: those of a version with bots. Undefined: the app is not installed. */
  readonly features?: readonly string[] | undefined;
}

export interface ProviderDSent {
  readonly messageId: number;
  readonly room: string;
  readonly text: string;
  readonly replyTo: number | undefined;
  /** As it came: the server does not look for a message that has it already. */
  readonly referenceId: string | undefined;
}

export interface ProviderD extends FakePlatform {
  readonly sent: readonly ProviderDSent[];
  /** Nobody can reply to it any more. */
  deleteMessage(id: number): void;
  /** Shares a file in a conversation that is open to guests, or in one that is not; the link. */
  share(bytes: Uint8Array, mimeType: string, openTo?: Share["openTo"]): string;
  /** A share whose download is a redirect to this URL; its link. */
  shareLeadingTo(url: string): string;
}

const MAX_CHARS = 32_000;
const MESSAGES = /^\/ocs\/v2\.php\/apps\/spreed\/api\/v1\/bot\/([a-zA-Z0-9-]+)\/message$/;
/** The server slows down, and then refuses, a client that failed this often. */
const MAX_FAILURES = 10;

export async function startProviderD(options: ProviderDOptions): Promise<ProviderD> {
  const { secret, rooms } = options;
  if (secret.length < 40 || secret.length > 128) throw new Error("The server takes no secret of this length.");
  const features = "features" in options ? options.features : ["audio", "chat-v2", "chat-reference-id", "bots-v1"];
  const sent: ProviderDSent[] = [];
  const deleted = new Set<number>();
  const shares = new Map<string, Share>();
  let failures = 0;

  function take(room: string, request: PlatformRequest): PlatformReply {
    const { message, replyTo = 0, referenceId } = (request.json ?? {}) as Record<string, unknown>;
    if (typeof message !== "string" || message.trim() === "") return ocs(request, 400);
    if (!Number.isInteger(replyTo)) return ocs(request, 400);
    const random = headerLike(request, /^x-[a-z-]+-bot-random$/);
    const signature = headerLike(request, /^x-[a-z-]+-bot-signature$/);
    if (random.length < 32 || signature === "") return ocs(request, 400);
    const isSetUp = rooms === undefined || rooms.includes(room);
    if (!isSetUp || !isSignedBy(secret, random + message, signature)) {
      failures += 1;
      return ocs(request, failures > MAX_FAILURES ? 429 : 401);
    }
    if (replyTo !== 0 && deleted.has(replyTo as number)) return ocs(request, 400);
    if ([...message].length > MAX_CHARS) return ocs(request, 413);
    const messageId = 10_000 + sent.length;
    const key = typeof referenceId === "string" && referenceId !== "" ? referenceId.slice(0, 64) : undefined;
    const parent = replyTo === 0 ? undefined : (replyTo as number);
    sent.push({ messageId, room, text: message, replyTo: parent, referenceId: key });
    return ocs(request, 201);
  }

  function download(token: string): PlatformReply {
    const share = shares.get(token);
    if (share === undefined || share.openTo === "members") return { status: 404, headers: HTML };
    if (share.location !== undefined) return { status: 302, headers: { location: share.location } };
    if (share.openTo !== "guests") return { status: 302, headers: { location: `/index.php/s/${token}/authenticate` } };
    return { headers: { "content-type": share.mimeType, "content-disposition": "attachment" }, bytes: share.bytes };
  }

  const base = await startPlatform((request) => {
    const { method, path, headers } = request;
    const share = /^\/index\.php\/s\/([A-Za-z0-9]+)\/(download|authenticate)$/.exec(path);
    if (share?.[2] === "download") return download(share[1] ?? "");
    if (share) return { headers: HTML, bytes: Buffer.from("<form>password</form>") };
    // Without it the request could be a browser's, made by some page.
    if (headers["ocs-apirequest"] !== "true") return ocs(request, 412);
    if (method === "GET" && path === "/ocs/v2.php/cloud/capabilities") return ocs(request, 200, capabilities(features));
    const room = method === "POST" ? MESSAGES.exec(path)?.[1] : undefined;
    return room === undefined ? ocs(request, 404) : take(room, request);
  });

  const added = (share: Share): string => {
    const token = `Share${String(shares.size).padStart(10, "0")}`;
    shares.set(token, share);
    return `${base.url}/s/${token}`;
  };
  return Object.assign(base, {
    sent,
    deleteMessage: (id: number) => void deleted.add(id),
    share: (bytes: Uint8Array, mimeType: string, openTo: Share["openTo"] = "guests") =>
      added({ bytes, mimeType, openTo }),
    shareLeadingTo: (location: string) =>
      added({ bytes: new Uint8Array(), mimeType: "text/html", openTo: "guests", location }),
  });
}

interface Share {
  readonly bytes: Uint8Array;
  readonly mimeType: string;
  readonly openTo: "guests" | "members" | "who knows the password";
  readonly location?: string;
}

const HTML = { "content-type": "text/html; charset=UTF-8" };

/** The names have the platform's brand in them; the channel's own tests look at them letter by letter. */
const headerLike = ({ headers }: PlatformRequest, name: RegExp): string =>
  Object.entries(headers).find(([key]) => name.test(key))?.[1] ?? "";

/** Any case, as its own sample code compares. */
function isSignedBy(secret: string, text: string, signature: string): boolean {
  const expected = createHmac("sha256", secret).update(text).digest();
  const given = Buffer.from(signature, "hex");
  return given.length === expected.length && timingSafeEqual(given, expected);
}
