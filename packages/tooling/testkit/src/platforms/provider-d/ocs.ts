/** The envelope of every answer. */
import type { Json } from "@svc/contract";
import type { PlatformReply, PlatformRequest } from "../base.ts";

export function ocs({ headers }: PlatformRequest, status: number, data: Json = null): PlatformReply {
  const meta = { status: status < 300 ? "ok" : "failure", statuscode: status, message: status < 300 ? "OK" : null };
  if (headers["accept"]?.includes("application/json")) return { status, json: { ocs: { meta, data } } };
  const xml = `<?xml version="1.0"?>\n<ocs><meta><status>${meta.status}</status><statuscode>${status}</statuscode></meta><data/></ocs>`;
  return { status, headers: { "content-type": "application/xml; charset=utf-8" }, bytes: Buffer.from(xml) };
}
