/** `GET /openapi.json`: made for the first who asks, and kept. */
import type { Logger } from "@svc/contract";
import * as v from "valibot";
import type { OwnRoute, RouteSpec } from "./route.ts";
import { contentTag, errorReply, isKnown, Reply } from "../http/reply.ts";
import type { Send } from "../http/send.ts";

const ETAG = { ETag: v.pipe(v.string(), v.description("Of this document.")) };

export const OPENAPI = {
  method: "GET",
  path: "/openapi.json",
  access: "public",
  summary: "Describes every route.",
  headers: {
    "If-None-Match": v.optional(v.pipe(v.string(), v.description("ETags of documents that the caller has."))),
  },
  answers: {
    200: { description: "This document.", body: v.looseObject({ openapi: v.string() }), headers: ETAG },
    304: { description: "The caller has it.", headers: ETAG },
  },
} satisfies RouteSpec;

export interface OpenApiRouteDeps {
  readonly version: string;
  /** Beside core's own. */
  readonly features: readonly RouteSpec[];
  readonly send: Send;
  readonly log: Logger;
}

export function openApiRoute({ version, features, send, log }: OpenApiRouteDeps): OwnRoute {
  let making: Promise<Document> | undefined;
  const make = async (): Promise<Document> => {
    const { CORE_ROUTES, openApiDocument } = await import("../openapi.ts");
    return asReplies(JSON.stringify(openApiDocument({ version, routes: [...CORE_ROUTES, ...features] })));
  };
  return {
    ...OPENAPI,
    handle(incoming, outgoing) {
      making ??= make();
      making.then(
        (document) =>
          send(incoming, outgoing, isKnown(incoming.headers, document.etag) ? document.same : document.whole),
        (error: unknown) => {
          making = undefined;
          log.error("the document of the routes can't be made", {
            cause: error instanceof Error ? error.message : "unknown",
          });
          send(incoming, outgoing, errorReply("INTERNAL"));
        },
      );
      return undefined;
    },
  };
}

interface Document {
  readonly etag: string;
  readonly whole: Reply;
  readonly same: Reply;
}

function asReplies(text: string): Document {
  // One buffer for all answers: of a string each connection that does not read would get a copy.
  const body = Buffer.from(text);
  const etag = `"${contentTag(body)}"`;
  const reply = (status: number, bytes: Buffer): Reply =>
    // The same for everybody, so that it may be kept; asked about each time, as a reload can change it.
    new Reply(status, "application/json; charset=utf-8", bytes, ["etag", etag], "no-cache");
  return { etag, whole: reply(200, body), same: reply(304, Buffer.alloc(0)) };
}
