/** Mail by the API: read alone and in its thread, labelled, deleted, and inserted as raw bytes. */
import type { Json } from "@svc/contract";
import type { PlatformReply, PlatformRequest } from "../base.ts";
import { notFound, ok, refused } from "./errors.ts";
import type { Labels } from "./labels.ts";
import { resourceOf, type StoredMail } from "./mail-resource.ts";
import type { Mailbox } from "./mailbox.ts";
import { postedOf } from "./outgoing.ts";
import { writtenMail } from "./written.ts";

export interface MailRoutes {
  /** `messages/<id>…` and `threads/<id>`. */
  one(path: string, request: PlatformRequest): PlatformReply;
  /** `POST messages` and `POST messages/import`. */
  put(request: PlatformRequest, isImport: boolean, isUpload: boolean): Promise<PlatformReply>;
}

export interface MailRouteOptions {
  readonly mailbox: Mailbox;
  readonly labels: Labels;
  readonly now: () => number;
}

export function createMailRoutes({ mailbox, labels, now }: MailRouteOptions): MailRoutes {
  const attachments = new Map<string, Uint8Array>();
  const attach = (bytes: Uint8Array): string => {
    const id = `ANGjdJ${attachments.size}-${Buffer.from(String(bytes.length)).toString("base64url")}`;
    attachments.set(id, bytes);
    return id;
  };
  const shown = (mail: StoredMail, query: URLSearchParams): Json =>
    resourceOf(mail, { format: query.get("format") ?? "full", headers: query.getAll("metadataHeaders"), attach });

  function thread(id: string, query: URLSearchParams): PlatformReply {
    const mails = [...mailbox.mails.values()].filter(({ threadId }) => threadId === id);
    if (mails.length === 0) return notFound();
    const newest = mails.reduce((one, other) => (BigInt(one.historyId) > BigInt(other.historyId) ? one : other));
    return ok({ id, historyId: newest.historyId, messages: mails.map((mail) => shown(mail, query)) });
  }

  function modify(id: string, json: Json | undefined): PlatformReply {
    const { addLabelIds: add = [], removeLabelIds: remove = [] } = (json ?? {}) as {
      addLabelIds?: string[];
      removeLabelIds?: string[];
    };
    const unknown = labels.unknown([...add, ...remove]);
    if (unknown !== undefined) return refused(400, "invalidArgument", `Invalid label: ${unknown}`);
    const mail = mailbox.relabel(id, { add, remove });
    return mail === undefined ? notFound() : ok(tagOf(mail));
  }

  return {
    one(path, { method, query, json }) {
      const [, kind, id = "", rest = ""] = /^(messages|threads)\/([\w-]+)(?:\/(.+))?$/.exec(path) ?? [];
      if (kind === "threads" && method === "GET" && rest === "") return thread(id, query);
      const mail = kind === "messages" ? mailbox.mails.get(id) : undefined;
      if (mail === undefined) return notFound();
      const route = `${method} ${rest}`;
      if (route === "GET ") return ok(shown(mail, query));
      if (route === "POST modify") return modify(id, json);
      if (route === "DELETE ") {
        mailbox.remove(id);
        return { status: 204 };
      }
      const bytes = rest.startsWith("attachments/") ? attachments.get(rest.slice("attachments/".length)) : undefined;
      if (method !== "GET" || bytes === undefined) return notFound();
      return ok({ size: bytes.length, data: Buffer.from(bytes).toString("base64url") });
    },
    async put(request, isImport, isUpload) {
      const posted = postedOf(request, isUpload);
      if (posted === undefined) return refused(400, "invalidArgument", "'raw' RFC822 payload message string required.");
      const { threadId, labelIds } = posted;
      const unknown = labels.unknown(labelIds ?? []);
      if (unknown !== undefined) return refused(400, "invalidArgument", `Invalid label: ${unknown}`);
      const isThere = [...mailbox.mails.values()].some((mail) => mail.threadId === threadId);
      if (threadId !== undefined && !isThere) return notFound();
      const { dateMs, ...mail } = await writtenMail(posted.raw);
      const source = request.query.get("internalDateSource") ?? (isImport ? "dateHeader" : "receivedTime");
      const atMs = source === "dateHeader" ? (dateMs ?? now()) : now();
      const given = labelIds ?? (isImport ? undefined : []);
      const where = { ...(threadId !== undefined && { threadId }), ...(given && { labelIds: given }) };
      return ok(tagOf(mailbox.add({ ...mail, atMs, ...where })));
    },
  };
}

/** What is told of a mail that was changed or put somewhere. */
export const tagOf = ({ id, threadId, labelIds }: StoredMail): Json => ({
  id,
  threadId,
  ...(labelIds.length > 0 && { labelIds: [...labelIds] }),
});
