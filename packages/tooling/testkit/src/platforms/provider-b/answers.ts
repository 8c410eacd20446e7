/** The form of its answers. */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";

export const created = (status: number, json: Json): PlatformReply => ({ status, json });

export const done: PlatformReply = { status: 204 };

/** Codes: 1xxx the request, 2xxx the resource, 5xxx the file. */
export const refused = (status: number, code: number): PlatformReply => ({
  status,
  json: {
    success: false,
    error: { status, code, message: "refused", doc_url: `https://docs.example/error/codes/${code}/` },
    trace_id: "2eff5df5c6f688733c007523c4d61cd9",
  },
});
