/** The form of the API's refusals. */
import type { Json } from "@svc/contract";
import type { PlatformReply } from "../base.ts";

export const ok = (json: Json): PlatformReply => ({ json });

export function refused(status: number, reason: string, message = reason): PlatformReply {
  const error = {
    code: status,
    message,
    errors: [{ message, domain: "global", reason }],
    status: STATUS[status] ?? "UNKNOWN",
  };
  const headers: Record<string, string> =
    status === 401 ? { "www-authenticate": 'Bearer realm="https://accounts.example/"' } : {};
  return { status, headers, json: { error } };
}

export const notFound = (): PlatformReply => refused(404, "notFound", "Requested entity was not found.");

const STATUS: Readonly<Record<number, string>> = {
  400: "INVALID_ARGUMENT",
  401: "UNAUTHENTICATED",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ALREADY_EXISTS",
  429: "RESOURCE_EXHAUSTED",
};
